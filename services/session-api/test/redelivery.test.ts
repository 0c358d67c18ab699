import type { SessionEvent } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { findLostNotices } from '../src/lost-notices.ts';
import { startRedelivery } from '../src/redelivery.ts';
import { logger } from './door.ts';
import { MemoryStore, toMachine } from './memory-store.ts';
import { RecordedDelivery } from './recorded-delivery.ts';

const pace = { intervalMs: 5, quietMs: 10_000, attemptMs: 50 };
const settings = { cwd: '/w', machineId: 'm-laptop', model: { name: 'm' }, approvalPolicy: 'never' as const };

function toId(index: number): string {
  return `0f9a3c52-6f0c-4bb8-9a53-${String(index).padStart(12, '0')}`;
}

async function createStore(sessions: number): Promise<MemoryStore> {
  const store = new MemoryStore();
  store.machines.push(toMachine('laptop'));
  for (let index = 0; index < sessions; index += 1) {
    await store.createSession({ sessionId: toId(index), title: '', settings, context: [] });
    await store.addInput({ sessionId: toId(index), input: { inputId: 'in-1', kind: 'prompt', text: 'go' } });
  }
  return store;
}

/** Redelivers until `done` resolves. */
async function redeliver(
  store: MemoryStore,
  delivery: RecordedDelivery,
  done: () => Promise<void>,
): Promise<void> {
  const redelivery = startRedelivery({ store, delivery, logger, ...pace });
  try {
    await done();
  } finally {
    await redelivery.stop();
  }
}

describe('redelivery', () => {
  test('delivers what the engine does not know, at start and in the order it was given', async () => {
    const store = await createStore(1);
    await store.addInput({ sessionId: toId(0), input: { inputId: 'in-2', kind: 'steer', text: 'more' } });
    const delivery = new RecordedDelivery();
    await redeliver(store, delivery, () => delivery.until(2));
    expect(delivery.taken).toEqual([
      { message: 'submit', sessionId: toId(0), id: 'prompt in-1' },
      { message: 'submit', sessionId: toId(0), id: 'steer in-2' },
    ]);
  });

  test('goes on trying while the engine is away, and lets a session rest that took its inputs', async () => {
    const store = await createStore(20);
    const delivery = new RecordedDelivery();
    delivery.available = false;
    const passes = () => store.calls.filter((name) => name === 'listPendingInputs').length;
    await redeliver(store, delivery, async () => {
      while (delivery.refused < 24) await new Promise((resolve) => setImmediate(resolve));
      delivery.available = true;
      await delivery.until(20);
      const before = passes();
      while (passes() < before + 3) await new Promise((resolve) => setImmediate(resolve));
    });
    expect(new Set(delivery.taken.map(({ sessionId }) => sessionId)).size).toBe(20);
    expect(delivery.taken).toHaveLength(20);
  });

  test('tells the engine again of a cancelled turn and of an answered approval', async () => {
    const store = await createStore(2);
    store.startTurn(toId(0), 'in-1');
    await store.sealTurn({ sessionId: toId(0), turnId: 'in-1', end: { kind: 'cancelled' } });
    await store.addInput({ sessionId: toId(0), input: { inputId: 'in-2', kind: 'prompt', text: 'next' } });
    store.startTurn(toId(1), 'in-1');
    const approval = { approvalId: 'ap_1.1.0', callId: '1.1.0' };
    store.append(toId(1), 'in-1', { type: 'approval', status: 'resolved', decision: 'accept', ...approval });
    const delivery = new RecordedDelivery();
    await redeliver(store, delivery, () => delivery.until(4));
    const messagesOf = (id: string) =>
      delivery.taken
        .filter(({ sessionId }) => sessionId === id)
        .map(({ message, id: what }) => `${message} ${what}`);
    expect(messagesOf(toId(0))).toEqual(['submit prompt in-2', 'interrupt in-1']);
    expect(messagesOf(toId(1))).toEqual(['submit prompt in-1', 'approve ap_1.1.0']);
  });

  test('heals an engine that lost its database in the middle of a turn', async () => {
    const store = await createStore(1);
    store.startTurn(toId(0), 'in-1');
    store.append(toId(0), 'in-1', { type: 'step', step: 1, status: 'started' });
    const delivery = new RecordedDelivery();
    await redeliver(store, delivery, () => delivery.until(1));
    expect(delivery.taken).toEqual([{ message: 'submit', sessionId: toId(0), id: 'prompt in-1' }]);
  });

  test('is not held up by sessions whose engine hangs', async () => {
    const store = await createStore(10);
    const delivery = new RecordedDelivery();
    for (let index = 0; index < 7; index += 1) delivery.stuck.add(toId(index));
    await redeliver(store, delivery, () => delivery.until(3));
    expect(delivery.taken.map(({ sessionId }) => sessionId)).toEqual([toId(7), toId(8), toId(9)]);
  });

  test('looks at sessions behind a full page of ones that stay pending', async () => {
    const store = await createStore(520);
    const delivery = new RecordedDelivery();
    await redeliver(store, delivery, () => delivery.until(520));
    expect(new Set(delivery.taken.map(({ sessionId }) => sessionId)).size).toBe(520);
  });

  test('leaves closed sessions alone', async () => {
    const store = await createStore(2);
    await store.closeSession({ sessionId: toId(0) });
    const delivery = new RecordedDelivery();
    await redeliver(store, delivery, () => delivery.until(1));
    expect(delivery.taken.map(({ sessionId }) => sessionId)).toEqual([toId(1)]);
  });

  test('survives a store that is away', async () => {
    const store = await createStore(1);
    const list = store.listPendingInputs.bind(store);
    let refusals = 2;
    store.listPendingInputs = (request) => {
      refusals -= 1;
      return refusals >= 0 ? Promise.reject(new Error('away')) : list(request);
    };
    const delivery = new RecordedDelivery();
    await redeliver(store, delivery, () => delivery.until(1));
    expect(delivery.taken).toEqual([{ message: 'submit', sessionId: toId(0), id: 'prompt in-1' }]);
  });
});

describe('lost notices', () => {
  const place = { sessionId: toId(0), turnId: 't', at: '' };
  const events: SessionEvent[] = [
    {
      ...place,
      seq: 1,
      type: 'approval',
      status: 'resolved',
      approvalId: 'ap_1',
      callId: '1.1.0',
      decision: 'accept',
    },
    {
      ...place,
      seq: 2,
      type: 'approval',
      status: 'resolved',
      approvalId: 'ap_2',
      callId: '1.1.1',
      decision: 'accept',
    },
    {
      ...place,
      seq: 3,
      type: 'tool_result',
      callId: '1.1.0',
      tool: 'x',
      status: 'ok',
      text: '',
      durationMs: 1,
    },
    { ...place, seq: 4, type: 'status', status: 'cancelled' },
    { ...place, turnId: 'u', seq: 5, type: 'status', status: 'completed' },
  ];

  test('are answers without a result, until the turn ends, and the last turn when it was cancelled', () => {
    expect(findLostNotices(events.slice(0, 3))).toEqual({
      cancelledTurnId: undefined,
      approvalIds: ['ap_2'],
    });
    expect(findLostNotices(events.slice(0, 4))).toEqual({ cancelledTurnId: 't', approvalIds: [] });
    expect(findLostNotices(events)).toEqual({ cancelledTurnId: undefined, approvalIds: [] });
  });
});
