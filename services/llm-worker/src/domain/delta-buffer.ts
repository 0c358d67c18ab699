// delta-buffer.ts: live output in fewer, larger pieces. Nothing waits longer than the interval; the order is kept.
import type { SessionId, TurnId } from '@holdfast/protocol';
import type { DeltaSink } from './ports.ts';

/** Shorter than the eye notices, long enough to join the tokens of a fast model. */
const intervalMs = 20;

export type DeltaOrigin = {
  sessionId: SessionId;
  turnId: TurnId;
  step: number;
  /** The fence of the step: viewers drop the deltas of every attempt but the newest. */
  attempt: number;
};

export type DeltaBuffer = {
  add: (kind: 'text' | 'reasoning', text: string) => void;
  /** Sends what is left. */
  flush: () => void;
  /** Forgets what is left. */
  discard: () => void;
};

export function createDeltaBuffer(sink: DeltaSink, origin: DeltaOrigin): DeltaBuffer {
  let pending: { kind: 'text' | 'reasoning'; text: string } | undefined;
  let timer: NodeJS.Timeout | undefined;
  const discard = () => {
    clearTimeout(timer);
    timer = undefined;
    pending = undefined;
  };
  const flush = () => {
    if (pending) sink.publishDelta({ ...origin, ...pending });
    discard();
  };
  return {
    add(kind, text) {
      if (pending && pending.kind !== kind) flush();
      if (pending) pending.text += text;
      else pending = { kind, text };
      timer ??= setTimeout(flush, intervalMs);
    },
    flush,
    discard,
  };
}
