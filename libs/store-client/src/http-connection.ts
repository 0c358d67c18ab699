// http-connection.ts: one kept connection pool to one server. Half the CPU of `fetch`, which is most of what a small request costs.
import http, { type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';

export type HttpReply = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
};

export type HttpConnection = {
  /** Resolves with any status; rejects when the connection fails before the reply is complete. */
  send(request: {
    method: string;
    path: string;
    headers?: OutgoingHttpHeaders;
    body?: string | Uint8Array;
  }): Promise<HttpReply>;
};

/** A process makes few requests at once to the store; more than this would only queue there. */
const maxSockets = 32;

/** @param base for example `http://127.0.0.1:7402`; sockets do not keep the process alive */
export function createHttpConnection(base: string, authorization: string): HttpConnection {
  const { hostname, port, pathname, protocol } = new URL(base);
  const transport = protocol === 'https:' ? https : http;
  const agent = new transport.Agent({ keepAlive: true, maxSockets, scheduling: 'lifo' });
  const prefix = pathname.replace(/\/$/, '');
  return {
    send: ({ method, path, headers, body }) =>
      new Promise((resolve, reject) => {
        const length = body === undefined ? 0 : Buffer.byteLength(body);
        const all = { authorization, 'content-length': length, ...headers };
        const outgoing = transport.request(
          { agent, hostname, port, method, path: prefix + path, headers: all },
          (reply) => {
            const parts: Buffer[] = [];
            reply.on('data', (part: Buffer) => parts.push(part));
            reply.once('error', reject);
            reply.once('end', () =>
              resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: Buffer.concat(parts) }),
            );
          },
        );
        outgoing.once('error', reject);
        outgoing.end(body);
      }),
  };
}
