// Serves the test tools over streamable HTTP on loopback, in the current revision of the protocol and in the older one.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { createTestServer } from './tools.ts';

export type HttpTestServer = {
  url: string;
  /** Adds a tool and tells everybody. */
  grow(): void;
  /** Cuts all connections and stops listening. */
  kill(): Promise<void>;
};

export async function startHttpServer(
  options: { port?: number; authorization?: string } = {},
): Promise<HttpTestServer> {
  let grown = false;
  const handler = createMcpHandler(() => createTestServer({ grown }));
  const server = createServer((request, response) => {
    if (options.authorization !== undefined && request.headers.authorization !== options.authorization) {
      response.writeHead(401).end();
      return;
    }
    const body =
      request.method === 'POST'
        ? { body: Readable.toWeb(request) as ReadableStream<Uint8Array>, duplex: 'half' as const }
        : {};
    const headers = new Headers(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const incoming = new Request(`http://127.0.0.1${request.url}`, {
      method: request.method ?? 'GET',
      headers,
      ...body,
    });
    void handler.fetch(incoming).then((answer) => {
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (answer.body)
        Readable.fromWeb(answer.body as ReadableStream<Uint8Array>)
          .on('error', () => response.destroy())
          .pipe(response);
      else response.end();
    });
  });
  const listening = Promise.withResolvers<void>();
  server.listen(options.port ?? 0, '127.0.0.1', listening.resolve);
  await listening.promise;
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const kill = async () => {
    const closed = Promise.withResolvers<void>();
    server.close(() => closed.resolve());
    server.closeAllConnections();
    await closed.promise;
  };
  const grow = () => {
    grown = true;
    handler.notify.toolsChanged();
  };
  onTestFinished(() => (server.listening ? kill() : undefined));
  return { url: `http://127.0.0.1:${port}/mcp`, grow, kill };
}
