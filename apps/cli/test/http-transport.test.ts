import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { httpTransport } from '../src/http-transport.ts';

let server: Server;
let url = '';
let handle: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;

beforeAll(async () => {
  server = createServer((request, response) => handle(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test('a request arrives whole, and its reply is read as JSON, whatever its status', async () => {
  const seen: unknown[] = [];
  handle = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      const { method, url: path, headers } = request;
      seen.push({ method, path, token: headers.authorization, body: Buffer.concat(chunks).toString() });
      response.writeHead(409, { 'Content-Type': 'application/json' }).end('{"grüße": 1}');
    });
  };
  const reply = await httpTransport(`${url}/v1/x`, {
    method: 'POST',
    headers: { authorization: 'Bearer t' },
    body: '"ä"',
  });
  expect(seen).toEqual([{ method: 'POST', path: '/v1/x', token: 'Bearer t', body: '"ä"' }]);
  expect({ ok: reply.ok, status: reply.status, type: reply.headers.get('Content-Type') }).toEqual({
    ok: false,
    status: 409,
    type: 'application/json',
  });
  expect(await reply.json()).toEqual({ grüße: 1 });
});

test('a reply can be read as bytes', async () => {
  handle = (_, response) => response.end(Buffer.from([0, 255, 1]));
  const reply = await httpTransport(url, { method: 'GET', headers: {} });
  expect(new Uint8Array(await reply.arrayBuffer())).toEqual(new Uint8Array([0, 255, 1]));
});

test('a stream is read as it comes and ends with an error when it is aborted', async () => {
  handle = (_, response) => response.write('first');
  const abort = new AbortController();
  const reply = await httpTransport(url, { method: 'GET', headers: {}, signal: abort.signal });
  const pieces: string[] = [];
  const reading = (async () => {
    for await (const piece of reply.body ?? []) {
      pieces.push(Buffer.from(piece).toString());
      abort.abort();
    }
  })();
  await expect(reading).rejects.toThrow('aborted');
  expect(pieces).toEqual(['first']);
});

test('a request that nobody answers is an error', async () => {
  handle = (request) => request.socket.destroy();
  await expect(httpTransport(url, { method: 'GET', headers: {} })).rejects.toMatchObject({
    code: 'ECONNRESET',
  });
});
