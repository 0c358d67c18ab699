// activities.ts: what the workflow asks of the store. Each is one idempotent transaction of milliseconds, so there are no heartbeats.
import type { HistoryStore } from '@holdfast/agent-loop';
import type { HistoryActivities } from '@holdfast/contracts';
import { Failure } from '@holdfast/failures';
import { createSessionCallRunner } from '@holdfast/session-tools';
import { toApplicationFailure } from '@holdfast/temporal-runtime';

export function createActivities(store: HistoryStore): HistoryActivities {
  const sessionCalls = createSessionCallRunner({ store });
  return {
    sealTurn: (args) => run(async () => void (await store.sealTurn(args))),
    settleCall: (args) => run(async () => void (await store.settleCall(args))),
    runSessionCall: (args) => run(() => sessionCalls.run(args)),
    noteWaiting: (args) => run(() => store.noteWaiting(args)),
  };
}

async function run<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Failure ? toApplicationFailure(error) : error;
  }
}
