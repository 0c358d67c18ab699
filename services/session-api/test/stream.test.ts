import { connect } from 'node:net';
import type { Delta, SessionEvent } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { openDoor, token, type Door } from './door.ts';

const sessionId = '0f9a3c52-6f0c-4bb8-9a53-6f1c7a7d2a11';
const never = { pollMs: 60_000, safetyMs: 60_000 };

async function openWithSession(options: Parameters<typeof openDoor>[0] = {}): Promise<Door> {
  const door = await openDoor(options);
  await door.client.createSession({ sessionId, settings: { model: { name: 'm' } } });
  return door;
}

function append(door: Door, step: number): SessionEvent {
  const [event] = door.store.append(sessionId, 't', { type: 'step', step, status: 'started' });
  if (!event) throw new Error('nothing was appended');
  return event;
}

/** Follows the session and lets a test wait for what arrives. */
function follow(door: Door, options: { after?: number } = {}) {
  const abort = new AbortController();
  const seqs: number[] = [];
  const deltas: Delta[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const check of waiting) check();
  };
  const onDelta = (delta: Delta) => {
    deltas.push(delta);
    wake();
  };
  const done = (async () => {
    for await (const event of door.client
      .open(sessionId)
      .events({ ...options, onDelta, signal: abort.signal })) {
      seqs.push(event.seq);
      wake();
    }
  })();
  const until = (fits: () => boolean) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => {
      if (fits()) resolve();
    };
    waiting.add(check);
    check();
    return promise.finally(() => waiting.delete(check));
  };
  const stop = async () => {
    abort.abort();
    await done;
  };
  return { seqs, deltas, until, [Symbol.asyncDispose]: stop };
}

describe('the event stream', () => {
  test('replays what is recorded and goes on live', async () => {
    await using door = await openWithSession({ pace: never });
    append(door, 1);
    append(door, 2);
    await using viewer = follow(door);
    await viewer.until(() => viewer.seqs.length === 2);
    await door.bus.publishEvents([append(door, 3)]);
    await viewer.until(() => viewer.seqs.length === 3);
    expect(viewer.seqs).toEqual([1, 2, 3]);
  });

  test('starts after the event the viewer has', async () => {
    await using door = await openWithSession({ pace: never });
    for (let step = 1; step <= 5; step += 1) append(door, step);
    await using viewer = follow(door, { after: 3 });
    await viewer.until(() => viewer.seqs.length === 2);
    expect(viewer.seqs).toEqual([4, 5]);
  });

  test('fills a gap from the store', async () => {
    await using door = await openWithSession({ pace: never });
    append(door, 1);
    await using viewer = follow(door);
    await viewer.until(() => viewer.seqs.length === 1);
    append(door, 2);
    append(door, 3);
    await door.bus.publishEvents([append(door, 4)]);
    await viewer.until(() => viewer.seqs.length === 4);
    expect(viewer.seqs).toEqual([1, 2, 3, 4]);
  });

  test('reads the store by itself while the bus is away, and now and then while it is there', async () => {
    await using door = await openWithSession({ pace: { pollMs: 10, safetyMs: 30 } });
    door.bus.available = false;
    await using viewer = follow(door);
    append(door, 1);
    await viewer.until(() => viewer.seqs.length === 1);
    door.bus.available = true;
    append(door, 2);
    await viewer.until(() => viewer.seqs.length === 2);
    expect(viewer.seqs).toEqual([1, 2]);
  });

  test('carries live output of the newest attempt only, and without a place in the log', async () => {
    await using door = await openWithSession({ pace: never });
    append(door, 1);
    await using viewer = follow(door);
    await viewer.until(() => viewer.seqs.length === 1);
    const piece = (attempt: number, text: string): Delta => ({
      sessionId,
      turnId: 't',
      attempt,
      kind: 'text',
      step: 1,
      text,
    });
    door.bus.publishDelta(piece(1, 'he'));
    door.bus.publishDelta(piece(2, 'hel'));
    door.bus.publishDelta(piece(1, 'llo'));
    door.bus.publishDelta({
      sessionId,
      turnId: 't',
      attempt: 1,
      kind: 'output',
      callId: '1.1.0',
      text: 'out',
    });
    await viewer.until(() => viewer.deltas.length === 3);
    expect(viewer.deltas.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      'text he',
      'text hel',
      'output out',
    ]);
    expect(viewer.seqs).toEqual([1]);
  });

  test('forgets the viewer when it goes', async () => {
    await using door = await openWithSession({ pace: { pollMs: 5, safetyMs: 5 } });
    append(door, 1);
    {
      await using viewer = follow(door);
      await viewer.until(() => viewer.seqs.length === 1);
      expect(door.bus.viewers).toBe(2);
    }
    while (door.bus.viewers > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(door.bus.viewers).toBe(0);
  });

  test('is refused for a session that does not exist before it starts', async () => {
    await using door = await openDoor({ pace: never });
    const path = `${door.url}/v1/sessions/${sessionId}/events/stream`;
    const response = await fetch(path, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'session.unknown' } });
  });

  test('writes frames with id, family and data, and a comment when there is nothing to say', async () => {
    await using door = await openWithSession({
      pace: { pollMs: 5, safetyMs: 60_000 },
      viewerLimits: { deltaBytes: 1_000, endBytes: 10_000, heartbeatMs: 20 },
    });
    const event = append(door, 1);
    const path = `${door.url}/v1/sessions/${sessionId}/events/stream`;
    const response = await fetch(path, { headers: { authorization: `Bearer ${token}` } });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    let text = '';
    for await (const bytes of response.body ?? []) {
      text += Buffer.from(bytes).toString('utf8');
      if (text.includes(': alive')) break;
    }
    expect(text).toBe(`id: 1\nevent: step\ndata: ${JSON.stringify(event)}\n\n: alive\n\n`);
  });

  test('ends the connection of a viewer that does not read, and serves the others', async () => {
    await using door = await openWithSession({ pace: never });
    await using reader = follow(door);
    const socket = connect(Number(new URL(door.url).port), '127.0.0.1');
    const head = `GET /v1/sessions/${sessionId}/events/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`;
    socket.on('error', () => undefined);
    socket.write(head);
    while (door.bus.viewers < 4) await new Promise((resolve) => setImmediate(resolve));
    socket.pause();
    const text = 'x'.repeat(1_000_000);
    let count = 0;
    while (door.bus.viewers === 4) {
      const [event] = door.store.append(sessionId, 't', { type: 'text', step: 1, text });
      if (!event) throw new Error('nothing was appended');
      count += 1;
      await door.bus.publishEvents([event]);
      await reader.until(() => reader.seqs.length === count);
    }
    expect(count).toBeLessThan(40);
    expect(reader.seqs).toHaveLength(count);
    socket.destroy();
  });
});
