import type { ProgressNote } from './tool-caller.ts';

export type ProgressLog = {
  /** Never throws and never waits. */
  push(note: ProgressNote): void;
  /** Resolves when everything pushed so far was appended, or could not be. */
  flushed(): Promise<void>;
};

/** A server that floods gets its notes thinned out: of those that wait beyond this number only the newest is kept. */
const waitingLimit = 64;

/** Appends notes one after the other, in order. A note that cannot be appended is reported and left out. */
export function createProgressLog(options: {
  append: (note: ProgressNote) => Promise<void>;
  onError: (error: unknown) => void;
}): ProgressLog {
  const waiting: ProgressNote[] = [];
  let pumping: Promise<void> | undefined;
  const pump = async () => {
    for (let note = waiting.shift(); note; note = waiting.shift())
      await options.append(note).catch(options.onError);
    pumping = undefined;
  };
  return {
    push: (note) => {
      if (waiting.length >= waitingLimit) waiting.pop();
      waiting.push(note);
      pumping ??= pump();
    },
    flushed: () => pumping ?? Promise.resolve(),
  };
}
