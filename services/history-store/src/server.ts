// server.ts: the internal HTTP door: one route an operation, made from the table in store-client.
import type { HistoryStore } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import { createHttpService } from '@holdfast/http-service';
import { failureBodySchema, operations, type StoreOperation } from '@holdfast/store-client';
import type { Logger } from '@holdfast/telemetry';
import type { FastifyTypeProviderDefault } from 'fastify';
import { z } from 'zod';

export type ServerOptions = {
  store: HistoryStore;
  token: string;
  logger: Logger;
  /** Undefined when the store can work; else the reason why not, and every operation is answered with store.unavailable. */
  obstacle: () => string | undefined;
  /** Asks the database; for /readyz only. */
  readiness: () => Promise<string | undefined>;
};

const bodyLimitBytes = 16 * 1024 * 1024;
const blobLimitBytes = 64 * 1024 * 1024;
const defaultMediaType = 'application/octet-stream';

/** Not listening yet. Responses are trusted and sent as they are; their schemas are there for the OpenAPI document. */
export async function createServer(options: ServerOptions) {
  const { store, token, logger, readiness } = options;
  const description = 'The truth about sessions, for the services of Holdfast.';
  const app = await createHttpService({
    name: 'history-store',
    description,
    token,
    logger,
    bodyLimit: bodyLimitBytes,
    readiness,
  });
  app.addHook('preParsing', async (request) => {
    const obstacle = request.url.startsWith('/v1/') ? options.obstacle() : undefined;
    if (obstacle !== undefined) throw new Failure('store.unavailable', { detail: obstacle });
  });
  const routes = app.withTypeProvider<FastifyTypeProviderDefault>();
  for (const name of Object.keys(operations) as StoreOperation[]) {
    const { request, response } = operations[name];
    const run = store[name] as (input: unknown) => Promise<unknown>;
    routes.route({
      method: 'POST',
      url: `/v1/${name}`,
      schema: { operationId: name, body: request, response: { 200: response, default: failureBodySchema } },
      serializerCompiler: () => JSON.stringify,
      handler: async ({ body }) => (await run(body)) ?? {},
    });
  }
  addBlobRoutes(app, store);
  return app;
}

type App = Awaited<ReturnType<typeof createHttpService>>;

function addBlobRoutes(app: App, store: HistoryStore): void {
  app.addContentTypeParser(
    'application/octet-stream',
    { parseAs: 'buffer', bodyLimit: blobLimitBytes },
    (_request, body, done) => done(null, body),
  );
  app.route({
    method: 'POST',
    url: '/v1/blobs',
    bodyLimit: blobLimitBytes,
    schema: { operationId: 'putBlob' },
    handler: ({ body, headers }) => {
      if (!Buffer.isBuffer(body)) {
        throw new Failure('input.invalid', { detail: 'send the bytes as application/octet-stream' });
      }
      const mediaType = headers['x-media-type'];
      return store.putBlob({
        bytes: body,
        mediaType: typeof mediaType === 'string' ? mediaType : defaultMediaType,
      });
    },
  });
  const params = z.object({ digest: z.string() });
  app.route({
    method: 'GET',
    url: '/v1/blobs/:digest',
    schema: { operationId: 'readBlob', params },
    handler: async (request, reply) => {
      const { bytes, mediaType } = await store.readBlob(request.params);
      return reply.header('x-media-type', mediaType).type(defaultMediaType).send(Buffer.from(bytes));
    },
  });
}
