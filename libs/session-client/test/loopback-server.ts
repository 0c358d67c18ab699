import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Recorded = {
  method: string;
  path: string;
  body: unknown;
  authorization: string;
  lastEventId: string;
};
export type Handler = (reply: ServerResponse, request: Recorded) => void;

export type LoopbackServer = {
  url: string;
  requests: Recorded[];
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Answers the n-th request with the n-th handler; a request too many fails the test by its 500. */
export async function startLoopback(handlers: readonly Handler[], port = 0): Promise<LoopbackServer> {
  const requests: Recorded[] = [];
  const server = createServer((request, reply) => {
    void readRecorded(request).then((recorded) => {
      const handler = handlers[requests.length];
      requests.push(recorded);
      if (handler) handler(reply, recorded);
      else
        sendJson(500, { error: { code: 'internal.unexpected', message: 'no handler left' } })(
          reply,
          recorded,
        );
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', () => resolve());
  });
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, requests, close, [Symbol.asyncDispose]: close };
}

export function sendJson(status: number, body: unknown): Handler {
  return (reply) => {
    reply.writeHead(status, { 'content-type': 'application/json' });
    reply.end(JSON.stringify(body));
  };
}

/** The request is read and then the connection is cut, as by a process that is killed before it answers. */
export const cut: Handler = (reply) => {
  reply.destroy();
};

async function readRecorded(request: IncomingMessage): Promise<Recorded> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    body: text === '' ? undefined : (JSON.parse(text) as unknown),
    authorization: request.headers.authorization ?? '',
    lastEventId: String(request.headers['last-event-id'] ?? ''),
  };
}
