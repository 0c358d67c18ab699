// temporal-delivery.ts: messages to the session workflow, as updates. Their ids are fixed, so Temporal drops repeats within a run
// and the workflow drops the others.
import {
  approveUpdate,
  closeUpdate,
  interruptUpdate,
  queues,
  refreshToolsUpdate,
  sessionWorkflowType,
  submitUpdate,
  toWorkflowId,
  type SessionArgs,
  type Tuning,
} from '@holdfast/contracts';
import { Failure } from '@holdfast/failures';
import { WithStartWorkflowOperation, WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { SessionAddress, SessionDelivery } from '../ports/session-delivery.ts';

type SessionWorkflow = (args: SessionArgs) => Promise<void>;

export function createTemporalDelivery(options: { client: Client; tuning: Tuning }): SessionDelivery {
  const { client, tuning } = options;
  const toStart = (session: SessionAddress) =>
    new WithStartWorkflowOperation<SessionWorkflow>(sessionWorkflowType, {
      workflowId: toWorkflowId(session.sessionId),
      taskQueue: queues.orchestrator,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [{ ...session, tuning }],
    });
  const send = (signal: AbortSignal, call: () => Promise<void>) =>
    client.withAbortSignal(signal, call).catch((cause: unknown) => {
      throw new Failure('engine.temporal-unavailable', { cause });
    });
  const notify = (signal: AbortSignal, call: () => Promise<void>) =>
    send(signal, () => call().catch(ignoreEnded));
  const toHandle = (sessionId: string) => client.workflow.getHandle(toWorkflowId(sessionId));
  return {
    submit: ({ session, input }, signal) =>
      send(signal, () =>
        client.workflow.executeUpdateWithStart(submitUpdate, {
          args: [{ inputId: input.inputId, kind: input.kind }],
          updateId: input.inputId,
          startWorkflowOperation: toStart(session),
        }),
      ),
    refreshTools: ({ session, requestId }, signal) =>
      send(signal, () =>
        client.workflow.executeUpdateWithStart(refreshToolsUpdate, {
          updateId: requestId,
          startWorkflowOperation: toStart(session),
        }),
      ),
    interrupt: ({ sessionId, turnId }, signal) =>
      notify(signal, () =>
        toHandle(sessionId).executeUpdate(interruptUpdate, {
          args: [{ turnId }],
          updateId: `interrupt-${turnId}`,
        }),
      ),
    approve: ({ sessionId, approvalId }, signal) =>
      notify(signal, () =>
        toHandle(sessionId).executeUpdate(approveUpdate, { args: [{ approvalId }], updateId: approvalId }),
      ),
    close: ({ sessionId }, signal) =>
      notify(signal, () => toHandle(sessionId).executeUpdate(closeUpdate, { updateId: 'close' })),
  };
}

function ignoreEnded(error: unknown): void {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}
