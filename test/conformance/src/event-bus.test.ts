import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBus, ensureEventStream, type EventBus } from '@holdfast/events';
import type { SessionEvent } from '@holdfast/protocol';
import { createStandaloneNats, type StandaloneServer } from '@holdfast/stack';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-nats-'));
const root = fileURLToPath(new URL('../../..', import.meta.url));
let nats: StandaloneServer;
beforeAll(async () => {
  nats = await createStandaloneNats({ folder, token: 'a token/of the+test', root, env: process.env });
  await nats.start();
  await ensureEventStream({ url: toUrl() });
});
afterAll(async () => {
  await nats.stop();
  rmSync(folder, { recursive: true, force: true });
});

const toUrl = () => nats.url.replace('a token/of the+test', encodeURIComponent('a token/of the+test'));

function open(name: string): EventBus {
  const bus = createBus({ url: toUrl(), name });
  onTestFinished(() => bus.close());
  return bus;
}

async function openPair(): Promise<{ one: EventBus; other: EventBus }> {
  const [one, other] = [open('one'), open('other')];
  await Promise.all([one.ready(), other.ready()]);
  return { one, other };
}

function toEvent(sessionId: string, seq: number): SessionEvent {
  return { seq, sessionId, turnId: 't', at: '', type: 'text', step: 1, text: `text ${seq}` };
}

/** Collects what a subscription hands over; `until` resolves with all of it when there is this much. */
function collect<T>() {
  const seen: T[] = [];
  const waiting: { count: number; resolve: (seen: T[]) => void }[] = [];
  return {
    receive: (value: T) => {
      seen.push(value);
      for (const { count, resolve } of waiting) if (seen.length >= count) resolve(seen);
    },
    until: (count: number): Promise<T[]> =>
      seen.length >= count
        ? Promise.resolve(seen)
        : new Promise((resolve) => void waiting.push({ count, resolve })),
  };
}

describe('the event bus', () => {
  test('hands events to the viewers of their session only, in order', async () => {
    const { one, other } = await openPair();
    const [mine, foreign] = [randomUUID(), randomUUID()];
    const seen = collect<SessionEvent>();
    other.subscribeEvents(mine, seen.receive);
    const events = [1, 2, 3].map((seq) => toEvent(mine, seq));
    await settle(other);
    await one.publishEvents([toEvent(foreign, 1)]);
    await one.publishEvents(events.slice(0, 2));
    await one.publishEvents(events.slice(2));
    expect(await seen.until(3)).toEqual(events);
  });

  test('hands a cancel hint to its audience only, and nothing more after the end of a subscription', async () => {
    const { one, other } = await openPair();
    const [llm, machine] = [collect<object>(), collect<object>()];
    const endLlm = other.subscribeCancels('llm', llm.receive);
    other.subscribeCancels('m-1', machine.receive);
    const first = { sessionId: 's', turnId: 'first' };
    const second = { sessionId: 's', turnId: 'second' };
    await settle(other);
    one.publishCancel('llm', first);
    expect(await llm.until(1)).toEqual([first]);
    endLlm();
    await settle(other);
    one.publishCancel('llm', second);
    one.publishCancel('m-1', second);
    expect(await machine.until(1)).toEqual([second]);
    expect(await llm.until(1)).toEqual([first]);
  });

  test('finds a server again that was away, with the subscriptions it had', async () => {
    const { one, other } = await openPair();
    const seen = collect<object>();
    other.subscribeCancels('m-2', seen.receive);
    await settle(other);
    await nats.stop();
    await expect.poll(() => one.connected() || other.connected(), { timeout: 20_000 }).toBe(false);
    await expect(one.publishEvents([toEvent(randomUUID(), 1)])).rejects.toBeInstanceOf(Error);
    await nats.start();
    await expect.poll(() => one.connected() && other.connected(), { timeout: 20_000 }).toBe(true);
    await settle(other);
    one.publishCancel('m-2', { sessionId: 's', turnId: 't' });
    expect(await seen.until(1)).toEqual([{ sessionId: 's', turnId: 't' }]);
  });

  test('that was closed before a server answered says so to whoever waits for it', async () => {
    const bus = createBus({ url: 'nats://127.0.0.1:1', name: 'early' });
    const ready = bus.ready();
    await bus.close();
    await expect(ready).rejects.toThrow('closed before NATS answered');
  });
});

/** Resolves when the server has seen what the bus asked of it before: it answers one message after the other. */
async function settle(bus: EventBus): Promise<void> {
  const turnId = randomUUID();
  const echo = collect<{ turnId: string }>();
  const end = bus.subscribeCancels(turnId, echo.receive);
  bus.publishCancel(turnId, { sessionId: 's', turnId });
  await echo.until(1);
  end();
}
