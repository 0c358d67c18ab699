// session-tool.ts: the port between running a call of the session and its tools. Tools decide; they write nothing themselves.
import type { Answers, CallDetail, CallEffect, Goal, Question, ToolSpec } from '@holdfast/protocol';

/** What a call comes to. */
export type Step =
  /** Ends the call. `status` `failed` is a value that the model reads. */
  | { kind: 'finished'; status: 'ok' | 'failed'; text: string; durationMs?: number; effect?: CallEffect }
  /** Waits until that time (milliseconds since 1970) or for new input, whichever comes first. */
  | { kind: 'sleep'; untilMs: number }
  /** Asks a person; the call goes on when there are answers. */
  | { kind: 'ask'; question: string; questions: Question[] };

/** What a tool may look at. */
export type Surroundings = {
  call: CallDetail;
  /** Milliseconds since 1970. */
  now: number;
  readGoal: () => Promise<Goal | undefined>;
  /** What a person answered to the questions of this call; undefined until then. */
  readAnswers: () => Promise<Answers | undefined>;
};

export type SessionTool = {
  spec: ToolSpec;
  /** The same for a repeat as long as nothing has been written. Throws only what the store throws. */
  decide(surroundings: Surroundings): Promise<Step>;
};

export function toFailed(text: string): Step {
  return { kind: 'finished', status: 'failed', text };
}
