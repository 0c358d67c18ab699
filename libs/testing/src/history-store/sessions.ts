import { randomUUID } from 'node:crypto';
import { toUserMessage, type Item } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import {
  listPending,
  openScenario,
  toAssistantMessage,
  toCode,
  toNewCall,
  toUniqueName,
  usage,
  type StoreUnderTest,
} from './scenario.ts';

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

export function describeSessions(subject: () => StoreUnderTest): void {
  describe('sessions and their inputs', () => {
    test('a session is created once, and its context is what the model sees first', async () => {
      const context: Item[] = [toUserMessage('<environment>linux</environment>')];
      const { store, sessionId, settings } = await openScenario(subject().store, { context });
      const expected = {
        sessionId,
        title: 'a title',
        state: 'idle',
        settings,
        turns: 0,
        lastItemSeq: 1,
        lastEventSeq: 0,
        createdAt: time,
        updatedAt: time,
      };
      expect(await store.readSession({ sessionId })).toEqual(expected);
      expect(await store.createSession({ sessionId, title: 'another', settings, context: [] })).toEqual(
        expected,
      );
      expect(await store.readItems({ sessionId, after: 0, limit: 10 })).toEqual([
        { seq: 1, item: context[0] },
      ]);
    });

    test('a session needs a machine that exists', async () => {
      const { store } = subject();
      const settings = {
        cwd: '/w',
        machineId: toUniqueName('nobody'),
        model: { name: 'm' },
        approvalPolicy: 'never' as const,
      };
      const created = store.createSession({ sessionId: randomUUID(), title: '', settings, context: [] });
      expect(await toCode(created)).toBe('machine.unknown');
    });

    test('an unknown session is session.unknown for every operation that names one', async () => {
      const { store } = subject();
      const sessionId = randomUUID();
      const input = { inputId: 'a', kind: 'prompt' as const, text: 'x' };
      const page = { sessionId, after: 0, limit: 1 };
      expect(
        await Promise.all([
          toCode(store.readSession({ sessionId })),
          toCode(store.closeSession({ sessionId })),
          toCode(store.addInput({ sessionId, input })),
          toCode(store.listTurns({ sessionId })),
          toCode(store.readItems(page)),
          toCode(store.readEvents(page)),
          toCode(store.openStep({ sessionId, turnId: 'a', step: 1, inputs: ['a'] })),
          toCode(store.sealTurn({ sessionId, turnId: 'a', end: { kind: 'completed' } })),
          toCode(store.claimCall({ sessionId, callId: '1.1.0', machineId: 'm', bootId: 'b' })),
        ]),
      ).toEqual(Array.from({ length: 9 }, () => 'session.unknown'));
    });

    test('an input is kept once; the first text wins', async () => {
      const { store, sessionId, open, items } = await openScenario(subject().store);
      const input = { inputId: 'a', kind: 'prompt' as const, text: 'first' };
      expect(await store.addInput({ sessionId, input })).toEqual({ duplicate: false });
      expect(await store.addInput({ sessionId, input: { ...input, text: 'second' } })).toEqual({
        duplicate: true,
      });
      await open('a', 1);
      expect(await items()).toEqual([toUserMessage('first')]);
    });

    test('a closed session takes no new input, and says of an old one that it knows it', async () => {
      const { store, sessionId, send } = await openScenario(subject().store);
      await send('a');
      expect(await store.closeSession({ sessionId })).toMatchObject({ state: 'closed' });
      expect(await store.closeSession({ sessionId })).toMatchObject({ state: 'closed' });
      expect(await toCode(send('b'))).toBe('session.closed');
      expect(await store.addInput({ sessionId, input: { inputId: 'a', kind: 'prompt', text: 'x' } })).toEqual(
        { duplicate: true },
      );
      expect(await toCode(store.openStep({ sessionId, turnId: 'a', step: 1, inputs: ['a'] }))).toBe(
        'session.closed',
      );
    });

    test('closing a session cancels the turn that runs in it', async () => {
      const { store, sessionId, send, open, bodies } = await openScenario(subject().store);
      await send('a');
      await open('a', 1);
      await store.closeSession({ sessionId });
      expect((await bodies()).at(-1)).toEqual({ type: 'status', status: 'cancelled' });
      expect(await store.readSession({ sessionId })).toMatchObject({ state: 'closed' });
    });

    test('sessions are listed by their newest activity', async () => {
      const older = await openScenario(subject().store);
      const newer = await openScenario(subject().store);
      const mine = new Set([older.sessionId, newer.sessionId]);
      await newer.send('a');
      await new Promise((resolve) => setTimeout(resolve, 5));
      await older.send('a');
      const listed = await older.store.listSessions({ limit: 1000 });
      const found = listed.map((session) => session.sessionId).filter((id) => mine.has(id));
      expect(found).toEqual([older.sessionId, newer.sessionId]);
    });

    test('characters that cannot be stored become the replacement character', async () => {
      const { store, sessionId, open, commit, items } = await openScenario(subject().store);
      await store.addInput({
        sessionId,
        input: { inputId: 'a', kind: 'prompt', text: 'nul \0, half \uD83D, whole \u{1F600}' },
      });
      await open('a', 1);
      await commit('a', 1, { items: [toAssistantMessage('a \\u0000 that is text\0')] });
      expect(await items()).toEqual([
        toUserMessage('nul \uFFFD, half \uFFFD, whole \u{1F600}'),
        toAssistantMessage('a \\u0000 that is text\uFFFD'),
      ]);
    });

    test('items and events are read in pages', async () => {
      const { store, sessionId, startCalls, events } = await openScenario(subject().store);
      await startCalls('a', [toNewCall('c0'), toNewCall('c1')]);
      const all = await events();
      expect(all.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5]);
      expect(await store.readEvents({ sessionId, after: 1, limit: 2 })).toEqual(all.slice(1, 3));
      expect(await store.readEvents({ sessionId, after: 5, limit: 2 })).toEqual([]);
      const items = await store.readItems({ sessionId, after: 1, limit: 1 });
      expect(items).toMatchObject([{ seq: 2, item: { type: 'function_call', call_id: 'c0' } }]);
    });
  });

  describe('inputs that are still to be answered', () => {
    const pendingOf = async (sessionId: string, quietMs = 0) => {
      const pending = await listPending(subject().store, quietMs);
      return pending.filter((entry) => entry.sessionId === sessionId).map((entry) => entry.input);
    };

    test('are those nobody consumed and those of the running turn, oldest first', async () => {
      const { sessionId, send, open, commit, seal } = await openScenario(subject().store);
      await send('a');
      await send('b', 'steer');
      await send('c');
      expect(await pendingOf(sessionId)).toEqual([
        { inputId: 'a', kind: 'prompt' },
        { inputId: 'b', kind: 'steer' },
        { inputId: 'c', kind: 'prompt' },
      ]);
      await open('a', 1, { inputs: ['a', 'b'] });
      expect((await pendingOf(sessionId)).map((input) => input.inputId)).toEqual(['a', 'b', 'c']);
      await commit('a', 1);
      await seal('a', { kind: 'completed' });
      expect(await pendingOf(sessionId)).toEqual([{ inputId: 'c', kind: 'prompt' }]);
    });

    test('are listed page by page, so that those behind a full page get their turn', async () => {
      const { sessionId, send } = await openScenario(subject().store);
      for (const inputId of ['a', 'b', 'c']) await send(inputId);
      const pages = await listPending(subject().store, 0, 1);
      const mine = pages.filter((entry) => entry.sessionId === sessionId);
      expect(mine.map(({ input }) => input.inputId)).toEqual(['a', 'b', 'c']);
      const positions = pages.map(({ position }) => position);
      expect(positions).toEqual(positions.toSorted((one, other) => one - other));
      expect(new Set(positions).size).toBe(positions.length);
    });

    test('are not listed while the session is active, nor after it was closed', async () => {
      const { store, sessionId, send } = await openScenario(subject().store);
      await send('a');
      expect(await pendingOf(sessionId, 60_000)).toEqual([]);
      await store.closeSession({ sessionId });
      expect(await pendingOf(sessionId)).toEqual([]);
    });
  });

  describe('turns', () => {
    test('are listed with their steps and with usage counted once per response', async () => {
      const { store, sessionId, send, open, commit, claimToRun, finish, seal } = await openScenario(
        subject().store,
      );
      await send('a');
      await open('a', 1);
      await commit('a', 1, { calls: [toNewCall('c')], responseId: 'same' });
      const { fence } = await claimToRun('1.1.0');
      await finish('1.1.0', fence);
      await open('a', 2);
      await commit('a', 2, { responseId: 'same' });
      const running = { turnId: 'a', ordinal: 1, status: 'running', steps: 2, usage, startedAt: time };
      expect(await store.listTurns({ sessionId })).toEqual([running]);
      const error = { code: 'model.failed', message: 'it failed' };
      await seal('a', { kind: 'error', error });
      expect(await store.listTurns({ sessionId })).toEqual([
        { ...running, status: 'error', error, endedAt: time },
      ]);
      expect(await store.readSession({ sessionId })).toMatchObject({ state: 'idle', turns: 1 });
    });
  });
}
