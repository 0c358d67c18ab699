import { Failure } from '@holdfast/failures';
import { describe, expect, test } from 'vitest';
import { createSessionClient } from '../src/index.ts';
import { cut, sendJson, startLoopback } from './loopback-server.ts';

const token = 'token-of-the-test';
const sessionId = '0f9a3c52-6f0c-4bb8-9a53-6f1c7a7d2a11';

describe('the session client', () => {
  test('sends the bearer token and the body, and returns the reply', async () => {
    await using server = await startLoopback([sendJson(202, { duplicate: false, delivered: true })]);
    const session = createSessionClient({ url: server.url, token }).open(sessionId);
    const receipt = await session.send({ inputId: 'in-1', text: 'go', kind: 'steer' });
    expect(receipt).toEqual({ duplicate: false, delivered: true });
    expect(server.requests).toEqual([
      {
        method: 'POST',
        path: `/v1/sessions/${sessionId}/inputs`,
        body: { inputId: 'in-1', kind: 'steer', text: 'go' },
        authorization: `Bearer ${token}`,
        lastEventId: '',
      },
    ]);
  });

  test('repeats a request whose connection was lost with the same ids', async () => {
    await using server = await startLoopback([cut, cut, sendJson(201, { sessionId })]);
    const client = createSessionClient({ url: server.url, token });
    await client.createSession({ settings: { model: { name: 'm' } } });
    const ids = server.requests.map(({ body }) => (body as { sessionId: string }).sessionId);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(1);
  });

  test('waits for a session-api that comes back on the same address', async () => {
    const first = await startLoopback([]);
    const port = Number(new URL(first.url).port);
    await first.close();
    const listed = createSessionClient({ url: first.url, token }).listSessions({ limit: 3 });
    await using second = await startLoopback([sendJson(200, [])], port);
    expect(await listed).toEqual([]);
    expect(second.requests.map(({ path }) => path)).toEqual(['/v1/sessions?limit=3']);
  });

  test('gives up when the patience is used up and says what to do', async () => {
    const gone = await startLoopback([]);
    await gone.close();
    const error = await createSessionClient({ url: gone.url, token, patienceMs: 0 })
      .listMachines()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Failure);
    expect(error).toMatchObject({
      code: 'store.unavailable',
      detail: `the session-api at ${gone.url} does not answer; start it with \`holdfast up\``,
    });
  });

  test('throws the failure that the session-api names, at once', async () => {
    const refusal = { error: { code: 'machine.unknown', message: 'x', detail: 'known: laptop' } };
    await using server = await startLoopback([sendJson(404, refusal)]);
    const error = await createSessionClient({ url: server.url, token })
      .createSession({ settings: { model: { name: 'm' }, machine: 'gpu' } })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'machine.unknown', detail: 'known: laptop' });
  });

  test('repeats while the store behind the session-api is away', async () => {
    const away = sendJson(503, { error: { code: 'store.unavailable', message: 'x' } });
    await using server = await startLoopback([away, sendJson(200, { sessionId })]);
    expect(await createSessionClient({ url: server.url, token }).open(sessionId).read()).toEqual({
      sessionId,
    });
  });

  test('names the turn it interrupts, so that a repeat cannot mean the next one', async () => {
    const running = sendJson(200, { sessionId, runningTurn: 'in-1' });
    const ended = sendJson(200, { turnId: 'in-1', status: 'cancelled' });
    await using server = await startLoopback([running, cut, ended, sendJson(200, { sessionId })]);
    const session = createSessionClient({ url: server.url, token }).open(sessionId);
    await session.interrupt();
    const [, first, second] = server.requests;
    expect([first?.body, second?.body]).toEqual([{ turnId: 'in-1' }, { turnId: 'in-1' }]);
    await expect(session.interrupt()).rejects.toMatchObject({ code: 'session.not-running' });
  });

  test('reads a blob as bytes with its media type', async () => {
    await using server = await startLoopback([
      (reply) => {
        reply.writeHead(200, { 'content-type': 'image/png' });
        reply.end(Buffer.from([1, 2, 255]));
      },
    ]);
    const blob = await createSessionClient({ url: server.url, token }).readBlob('ab');
    expect(blob).toEqual({ bytes: new Uint8Array([1, 2, 255]), mediaType: 'image/png' });
  });
});
