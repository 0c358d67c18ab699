import type { SessionEvent } from '@holdfast/protocol';
import { describeHistoryStore } from '@holdfast/testing';
import { createMemoryStore } from '../src/index.ts';

const leaseMs = 15_000;

describeHistoryStore('the memory store', async () => {
  const events: SessionEvent[] = [];
  let ahead = 0;
  const store = createMemoryStore({
    onEvents: (news) => events.push(...news),
    now: () => Date.now() + ahead,
  });
  return {
    store,
    close: async () => undefined,
    reported: () => events,
    expireLeases: async () => void (ahead += leaseMs),
  };
});
