// describe-history-store.ts: every promise of the HistoryStore port as sentences that each adapter has to keep.
import { afterAll, beforeAll, describe } from 'vitest';
import { describeAnyOrder } from './history-store/any-order.ts';
import { describeCalls } from './history-store/calls.ts';
import { describeMachines } from './history-store/machines.ts';
import { describePauses } from './history-store/pauses.ts';
import type { StoreUnderTest } from './history-store/scenario.ts';
import { describeSessionTools } from './history-store/session-tools.ts';
import { describeSessions } from './history-store/sessions.ts';
import { describeSteps } from './history-store/steps.ts';
import { describeTurnEnds } from './history-store/turns.ts';

/** Runs the suite against one store that all its tests share; each test has a session and a machine of its own. */
export function describeHistoryStore(name: string, createStore: () => Promise<StoreUnderTest>): void {
  describe(`${name} keeps the promises of the history store`, () => {
    let current: StoreUnderTest | undefined;
    const subject = (): StoreUnderTest => {
      if (!current) throw new Error('the store is not open');
      return current;
    };
    beforeAll(async () => {
      current = await createStore();
    });
    afterAll(() => current?.close());
    describeSessions(subject);
    describeSteps(subject);
    describeCalls(subject);
    describePauses(subject);
    describeSessionTools(subject);
    describeTurnEnds(subject);
    describeMachines(subject);
    describeAnyOrder(subject);
  });
}
