// activities.ts: what the workflow asks of the store. Each is one idempotent transaction of milliseconds, so there are no heartbeats.
import type { CallLog, TurnLog } from '@holdfast/agent-loop';
import type { HistoryActivities } from '@holdfast/contracts';
import { Failure } from '@holdfast/failures';
import { toApplicationFailure } from '@holdfast/temporal-runtime';

export function createActivities(store: TurnLog & Pick<CallLog, 'settleCall'>): HistoryActivities {
  return {
    sealTurn: (args) => run(() => store.sealTurn(args)),
    settleCall: (args) => run(() => store.settleCall(args)),
    noteWaiting: (args) => run(() => store.noteWaiting(args)),
  };
}

async function run(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw error instanceof Failure ? toApplicationFailure(error) : error;
  }
}
