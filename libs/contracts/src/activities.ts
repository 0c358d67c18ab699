// activities.ts: the shapes that cross Temporal. Ids and counts only, never content: at most 2 KB in, 1 KB out.
import type { SampleRequest } from '@holdfast/agent-loop';
import type { CallOutput, CallResult, StepReply, TurnEnd, WaitingReason } from '@holdfast/protocol';

export type SampleArgs = SampleRequest;
export type RunCallArgs = { sessionId: string; callId: string };
export type SealTurnArgs = { sessionId: string; turnId: string; end: TurnEnd };
export type SettleCallArgs = { sessionId: string; callId: string; output: CallOutput };
export type NoteWaitingArgs = {
  sessionId: string;
  turnId: string;
  reason: WaitingReason;
  detail: string;
};

/** On queue `llm`. Throws ApplicationFailure whose type is a failure code. */
export type LlmActivities = { sample(args: SampleArgs): Promise<StepReply> };

/** On the queue of a machine and on queue `mcp`. Tool failures are values; a throw means that the worker, not the tool, failed. */
export type CallActivities = { runCall(args: RunCallArgs): Promise<CallResult> };

/** On queue `history`. Idempotent. */
export type HistoryActivities = {
  sealTurn(args: SealTurnArgs): Promise<void>;
  settleCall(args: SettleCallArgs): Promise<void>;
  noteWaiting(args: NoteWaitingArgs): Promise<void>;
};
