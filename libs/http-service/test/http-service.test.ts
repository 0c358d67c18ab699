import { once } from 'node:events';
import { connect } from 'node:net';
import { Failure } from '@holdfast/failures';
import { createLogger } from '@holdfast/telemetry';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createHttpService } from '../src/index.ts';

const token = 'a-token-of-the-test';
const mebibyte = 1_048_576;

/** A service on a real port with one route that counts, one that fails as told, and health. */
async function startService(options: { readiness?: () => string | undefined; token?: string } = { token }) {
  const app = await createHttpService({
    name: 'test',
    description: 'test',
    logger: createLogger({ service: 'test', level: 'silent' }),
    bodyLimit: mebibyte,
    readiness: options.readiness ?? (() => undefined),
    ...(options.token === undefined ? {} : { token: options.token }),
  });
  app.post('/size', { schema: { body: z.strictObject({ text: z.string() }) } }, ({ body }) => ({
    size: body.text.length,
  }));
  app.post('/fail', () => {
    throw new Failure('machine.unknown', { detail: 'known: laptop' });
  });
  app.post('/crash', () => {
    throw new Error('SECRET of the inside');
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const post = async (path: string, body: string, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    });
    return { status: response.status, body: await response.json() };
  };
  return { url, post, port: Number(new URL(url).port), [Symbol.asyncDispose]: () => app.close() };
}

describe('a request', () => {
  test('that fits is answered', async () => {
    await using service = await startService();
    expect(await service.post('/size', '{"text":"four"}')).toEqual({ status: 200, body: { size: 4 } });
  });

  test.each([
    ['no JSON', '{"text":', 'input.invalid'],
    ['a field of the wrong type', '{"text":4}', 'input.invalid'],
    ['a field too many', '{"text":"x","more":1}', 'input.invalid'],
  ])('with %s is refused with a code', async (_what, body, code) => {
    await using service = await startService();
    expect(await service.post('/size', body)).toMatchObject({ status: 400, body: { error: { code } } });
  });

  test('without the token, or with another one, is refused; health needs none', async () => {
    await using service = await startService();
    for (const authorization of ['', 'Bearer ', `Bearer ${token}x`, token]) {
      expect(await service.post('/size', '{"text":"x"}', { authorization })).toMatchObject({
        status: 401,
        body: { error: { code: 'auth.missing' } },
      });
    }
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
    expect((await fetch(`${service.url}/openapi.json`)).status).toBe(200);
  });

  test('that fails is answered with the status and the words of the failure table', async () => {
    await using service = await startService();
    expect(await service.post('/fail', '{}')).toMatchObject({
      status: 404,
      body: { error: { code: 'machine.unknown', detail: 'known: laptop' } },
    });
  });

  test('that meets a defect learns nothing of the inside', async () => {
    await using service = await startService();
    const { status, body } = await service.post('/crash', '{}');
    expect({ status, body }).toMatchObject({ status: 500, body: { error: { code: 'internal.unexpected' } } });
    expect(JSON.stringify(body)).not.toContain('SECRET');
  });

  test('for what is not there names where to look', async () => {
    await using service = await startService();
    const { status, body } = await service.post('/nowhere', '{}');
    expect(status).toBe(404);
    expect(JSON.stringify(body)).toContain('/openapi.json');
  });
});

describe('a body over the limit', () => {
  test.each(['with', 'without'])('is refused with 413 and a sentence, %s a length', async (length) => {
    await using service = await startService();
    const socket = connect(service.port, '127.0.0.1');
    await once(socket, 'connect');
    const answer = readAll(socket);
    answer.catch(() => undefined);
    const size = 24 * mebibyte;
    const kind = length === 'with' ? `content-length: ${size}` : 'transfer-encoding: chunked';
    socket.write(
      `POST /size HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\n${kind}\r\n\r\n`,
    );
    const part = Buffer.alloc(mebibyte, 'x');
    for (let sent = 0; sent < size; sent += part.length) {
      const written =
        length === 'with' ? part : Buffer.concat([Buffer.from('100000\r\n'), part, Buffer.from('\r\n')]);
      if (!socket.write(written)) await once(socket, 'drain');
    }
    if (length === 'without') socket.write('0\r\n\r\n');
    expect(await answer).toMatch(/^HTTP\/1\.1 413 [^]*"code":"input\.too-large"/);
  });
});

/** Everything that arrives until the other side ends the connection. @throws what breaks the connection */
async function readAll(socket: ReturnType<typeof connect>): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

describe('readiness', () => {
  test('says why the service cannot work', async () => {
    await using service = await startService({ readiness: () => 'no store' });
    const response = await fetch(`${service.url}/readyz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ status: 'not ready', reason: 'no store' });
  });
});
