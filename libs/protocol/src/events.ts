// events.ts: what people see, from every engine and in every client.
// E1  `seq` starts at 1 and has no gaps within a session.
// E2  Per turn: `status:starting` first, exactly one terminal status, and it is the last event of the turn.
// E3  Within a step: started before anything else; text, then usage, then tool_call, mcp_progress, tool_result; completed closes it.
// E4  Nothing of a turn follows its terminal status.
import type { CallStatus, FileChange } from './calls.ts';
import type { CallId, InputId, SessionId, TurnId } from './ids.ts';
import type { BlobRef } from './items.ts';
import type { TokenUsage } from './sessions.ts';
import type { FailureNotice } from './turns.ts';

/** What a turn waits for: its machine, a person's answer, the end of a rate limit, a model endpoint that cannot be reached. */
export type WaitingReason = 'machine' | 'approval' | 'api-limit' | 'network';

export type EventBody =
  | { type: 'status'; status: 'starting'; ordinal: number; input: { inputId: InputId; text: string } }
  | { type: 'status'; status: 'waiting'; reason: WaitingReason; detail: string }
  | { type: 'status'; status: 'completed' | 'cancelled' }
  | { type: 'status'; status: 'error'; error: FailureNotice }
  | { type: 'step'; step: number; status: 'started' | 'completed' }
  | { type: 'text'; step: number; text: string }
  | { type: 'reasoning'; step: number; text: string }
  | { type: 'usage'; step: number; responseId: string; usage: TokenUsage; contextTokens: number }
  | { type: 'tool_call'; step: number; callId: CallId; tool: string; input: string }
  | { type: 'mcp_progress'; callId: CallId; progress: number; total?: number; message?: string }
  | {
      type: 'tool_result';
      callId: CallId;
      tool: string;
      status: CallStatus;
      text: string;
      durationMs: number;
      exitCode?: number;
      full?: BlobRef;
      image?: BlobRef;
      changes?: FileChange[];
    }
  | { type: 'context'; change: 'tools-refreshed' | 'machine-online'; detail: string }
  | { type: 'message_injected'; inputId: InputId; text: string }
  | {
      type: 'approval';
      status: 'requested';
      approvalId: string;
      callId: CallId;
      tool: string;
      question: string;
    }
  | {
      type: 'approval';
      status: 'resolved';
      approvalId: string;
      callId: CallId;
      decision: 'accept' | 'decline';
    }
  | {
      type: 'plan';
      explanation?: string;
      plan: { step: string; status: 'pending' | 'in_progress' | 'completed' }[];
    }
  | { type: 'diff'; diff: string }
  /** A note on the way; with `willRetry` the turn goes on. */
  | { type: 'error'; error: FailureNotice; willRetry: boolean; attempt: number };

export type EventFamily = EventBody['type'];

/** `turnId` is null for what concerns the session as a whole; `at` is an ISO time. */
export type SessionEvent = EventBody & {
  seq: number;
  sessionId: SessionId;
  turnId: TurnId | null;
  at: string;
};

/**
 * A piece of live output. Never stored, may be lost. `attempt` is the fence of the step or call that produced it:
 * a viewer drops the deltas of every attempt but the newest.
 */
export type Delta = {
  sessionId: SessionId;
  turnId: TurnId;
  attempt: number;
  text: string;
} & ({ kind: 'text' | 'reasoning'; step: number } | { kind: 'output'; callId: CallId });

export type TerminalStatus = 'completed' | 'error' | 'cancelled';

export function isTerminal(event: EventBody): boolean {
  return (
    event.type === 'status' &&
    (event.status === 'completed' || event.status === 'error' || event.status === 'cancelled')
  );
}
