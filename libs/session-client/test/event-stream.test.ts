import type { Delta, SessionEvent } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { createSessionClient } from '../src/index.ts';
import { cut, sendJson, startLoopback, type Handler } from './loopback-server.ts';

const token = 'token-of-the-test';
const sessionId = '0f9a3c52-6f0c-4bb8-9a53-6f1c7a7d2a11';

function step(seq: number): SessionEvent {
  return {
    seq,
    sessionId,
    turnId: 't',
    at: '2026-11-21T10:00:00.000Z',
    type: 'step',
    step: seq,
    status: 'started',
  };
}

function frame(event: SessionEvent): string {
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Sends the text and then ends the connection, keeps it, or cuts it. */
function stream(text: string, then: 'end' | 'keep' | 'cut'): Handler {
  return (reply) => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    reply.write(text, () => {
      if (then === 'end') reply.end();
      if (then === 'cut') reply.destroy();
    });
  };
}

async function take(events: AsyncIterable<SessionEvent>, count: number): Promise<number[]> {
  const seqs: number[] = [];
  for await (const event of events) {
    seqs.push(event.seq);
    if (seqs.length === count) break;
  }
  return seqs;
}

describe('the event stream', () => {
  test('goes on from the last event over cut, ended and refused connections', async () => {
    const half = frame(step(4)).slice(0, 30);
    await using server = await startLoopback([
      stream(frame(step(1)) + frame(step(2)), 'cut'),
      sendJson(503, { error: { code: 'store.unavailable', message: 'x' } }),
      cut,
      stream(`: ping\n\n${frame(step(3))}${half}`, 'end'),
      stream(frame(step(4)) + frame(step(5)), 'keep'),
    ]);
    const session = createSessionClient({ url: server.url, token }).open(sessionId);
    expect(await take(session.events(), 5)).toEqual([1, 2, 3, 4, 5]);
    expect(server.requests.map(({ lastEventId }) => lastEventId)).toEqual(['0', '2', '2', '2', '3']);
    expect(server.requests.map(({ path }) => path)).toEqual(
      Array.from({ length: 5 }, () => `/v1/sessions/${sessionId}/events/stream`),
    );
  });

  test('starts after the given event and drops repetitions', async () => {
    await using server = await startLoopback([
      stream(frame(step(7)) + frame(step(8)) + frame(step(8)) + frame(step(9)), 'keep'),
    ]);
    const session = createSessionClient({ url: server.url, token }).open(sessionId);
    expect(await take(session.events({ after: 7 }), 2)).toEqual([8, 9]);
  });

  test('hands deltas over beside the events', async () => {
    const delta: Delta = { sessionId, turnId: 't', attempt: 2, kind: 'text', step: 1, text: 'hel' };
    const text = `event: text_delta\ndata: ${JSON.stringify(delta)}\n\n`;
    await using server = await startLoopback([stream(text + frame(step(1)), 'keep')]);
    const deltas: Delta[] = [];
    const session = createSessionClient({ url: server.url, token }).open(sessionId);
    await take(session.events({ onDelta: (piece) => deltas.push(piece) }), 1);
    expect(deltas).toEqual([delta]);
  });

  test('ends with the failure when the stream is refused', async () => {
    await using server = await startLoopback([
      sendJson(404, { error: { code: 'session.unknown', message: 'x' } }),
    ]);
    const session = createSessionClient({ url: server.url, token }).open(sessionId);
    await expect(take(session.events(), 1)).rejects.toMatchObject({ code: 'session.unknown' });
  });

  test('ends quietly when the signal aborts, also while it waits', async () => {
    await using server = await startLoopback([stream(frame(step(1)), 'keep')]);
    const abort = new AbortController();
    const seqs: number[] = [];
    for await (const event of createSessionClient({ url: server.url, token })
      .open(sessionId)
      .events({ signal: abort.signal })) {
      seqs.push(event.seq);
      setImmediate(() => abort.abort());
    }
    expect(seqs).toEqual([1]);
  });
});
