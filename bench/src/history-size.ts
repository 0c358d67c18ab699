import { toWorkflowId } from '@holdfast/contracts';
import { Client, Connection } from '@temporalio/client';

export type HistorySize = { events: number; bytes: number };

/** Sums the histories of all runs of a session; Temporal's own figures. */
export async function readHistorySize(address: string, sessionId: string): Promise<HistorySize> {
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace: 'holdfast' });
  const total = { events: 0, bytes: 0 };
  let runId: string | undefined;
  try {
    for (;;) {
      const handle = client.workflow.getHandle(toWorkflowId(sessionId), runId);
      const description = await handle.describe();
      total.events += description.historyLength;
      total.bytes += description.historySize ?? 0;
      const started = (await handle.fetchHistory()).events?.[0]?.workflowExecutionStartedEventAttributes;
      runId = started?.continuedExecutionRunId ?? undefined;
      if (!runId) return total;
    }
  } finally {
    await connection.close();
  }
}
