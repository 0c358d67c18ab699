import type { CallRef } from './calls.ts';
import type { TerminalStatus } from './events.ts';
import type { InputId, TurnId } from './ids.ts';
import type { TokenUsage } from './sessions.ts';

/** A failure as a person reads it; `code` is a key of the failure table. */
export type FailureNotice = { code: string; message: string };

export type TurnEnd = { kind: 'completed' } | { kind: 'cancelled' } | { kind: 'error'; error: FailureNotice };

/** What the loop learns of one model reply; the content is in the store. */
export type StepReply =
  | { kind: 'reply'; calls: CallRef[]; contextTokens: number; endTurn: boolean }
  /** The turn was ended by somebody else; nothing more happens in it. */
  | { kind: 'sealed'; status: TerminalStatus };

export type TurnStatus = 'running' | TerminalStatus;

export type Turn = {
  turnId: TurnId;
  ordinal: number;
  status: TurnStatus;
  error?: FailureNotice;
  steps: number;
  usage: TokenUsage;
  startedAt: string;
  endedAt?: string;
};

/** `steer` joins the running turn (or starts one); `prompt` waits for the running turn to end. */
export type InputKind = 'prompt' | 'steer';
export type Input = { inputId: InputId; kind: InputKind; text: string };
