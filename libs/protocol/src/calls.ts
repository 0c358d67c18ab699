import type { OutputStyle } from './bounded-text.ts';
import type { CallId, SessionId, TurnId } from './ids.ts';
import type { BlobRef } from './items.ts';
import type { CallPlacement } from './tools.ts';

/** All that the loop knows of a call; arguments stay in the store. */
export type CallRef = { callId: CallId; tool: string; placement: CallPlacement; parallel: boolean };

/** How a call ended. `failed` is a value that the model reads; `unknown` says that the effect may or may not have happened. */
export type CallStatus = 'ok' | 'failed' | 'denied' | 'aborted' | 'unknown';

/**
 * The life of a call in the store: pending → (awaiting-approval →) claimed → finished.
 * A call with `status: 'unknown'` is finished, too: it never runs again.
 */
export type CallState = 'pending' | 'awaiting-approval' | 'claimed' | 'finished';

/** What a tool hands back for the model, the person and the log. */
export type CallOutput = {
  status: CallStatus;
  /** Bounded text for the model. */
  text: string;
  /** Approximate size of `text` in tokens. */
  tokens: number;
  durationMs: number;
  exitCode?: number;
  /** The whole output when `text` had to be cut. */
  full?: BlobRef;
  /** What the model looks at beside the text; kept before the output is handed back. */
  image?: BlobRef;
  /** Files that changed, for the event log and `exec --json`. */
  changes?: FileChange[];
};

export type FileChange = { path: string; kind: 'add' | 'update' | 'delete' };

/** The session's settings that a tool needs to run a call. */
export type CallContext = { cwd: string; approvalPolicy: ApprovalPolicy; outputStyle?: OutputStyle };

export type ApprovalPolicy = 'never' | 'always';

/** What a claim returns. Only `run` allows the call to be executed; everything else must not start it. */
export type Claim =
  | { kind: 'run'; fence: number; call: CallDetail; approval: 'none' | 'accepted' }
  /** An earlier claim exists: look what became of it, never start the call again. */
  | { kind: 'resolve'; fence: number; call: CallDetail; previous: { machineId: string; bootId: string } }
  | { kind: 'awaiting-approval'; approvalId: string }
  | { kind: 'finished'; status: CallStatus; outputTokens: number }
  /** The turn ended (for example by an interrupt); nothing may run for it any more. */
  | { kind: 'sealed' };

export type CallDetail = {
  sessionId: SessionId;
  turnId: TurnId;
  callId: CallId;
  modelCallId: string;
  tool: string;
  form: 'function' | 'freeform';
  /** JSON text for functions, raw text for freeform tools; exactly as the model wrote it. */
  input: string;
  context: CallContext;
};

/** What the loop learns of a call that ran. */
export type CallResult =
  | { kind: 'finished'; status: CallStatus; outputTokens: number }
  | { kind: 'awaiting-approval'; approvalId: string }
  | { kind: 'sealed' };
