// session-workflow.ts: the public face of the session workflow. Ids only; the content is in the store before any of these is sent.
import type { SessionQueue } from '@holdfast/agent-loop';
import type { InputId, InputKind } from '@holdfast/protocol';
import { defineQuery, defineUpdate } from '@temporalio/workflow';
import type { Tuning } from './options.ts';

export const sessionWorkflowType = 'session';

export type SessionArgs = {
  sessionId: string;
  machineId: string;
  tuning: Tuning;
  /** Given by the run before, on continue-as-new. */
  carried?: SessionQueue;
};

export type SubmitArgs = { inputId: InputId; kind: InputKind };

/** Queues a prompt, or steers the running turn. Repeats are accepted and change nothing. */
export const submitUpdate = defineUpdate<void, [SubmitArgs]>('submit');
/** Stops the turn; a turn that is not running any more is ignored. */
export const interruptUpdate = defineUpdate<void, [{ turnId: string }]>('interrupt');
/** Wakes the call that waits for this approval; the decision itself is in the store. */
export const approveUpdate = defineUpdate<void, [{ approvalId: string }]>('approve');
export const refreshToolsUpdate = defineUpdate<void>('refreshTools');
/** Ends the workflow after interrupting the running turn. */
export const closeUpdate = defineUpdate<void>('close');
/** For debugging only: needs a live orchestrator. */
export const stateQuery = defineQuery<SessionQueue>('state');
