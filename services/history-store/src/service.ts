import type { Env } from '@holdfast/config';
import { readConfig } from './config.ts';
import type { RunningHistoryStore } from './wiring.ts';

/**
 * Resolves when the HTTP door is open, on `port` when HOLDFAST_STORE_PORT is 0; Postgres, NATS and Temporal may still be away.
 * Temporal, NATS and fastify are loaded here, because whoever only wants the memory store should not wait for them.
 * @throws ConfigError
 */
export async function startHistoryStore(env: Env): Promise<RunningHistoryStore> {
  const config = readConfig(env);
  const { runHistoryStore } = await import('./wiring.ts');
  return runHistoryStore(config);
}

/** The OpenAPI document of the HTTP door, for the reference pages; starts nothing. */
export async function describeStoreApi(): Promise<object> {
  const [{ createServer }, { createMemoryStore }] = await Promise.all([
    import('./server.ts'),
    import('./adapters/memory.ts'),
  ]);
  const app = await createServer({
    store: createMemoryStore({ onEvents: () => undefined }),
    token: 'only for the description',
    logger: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    obstacle: () => undefined,
    readiness: () => Promise.resolve(undefined),
  });
  await app.ready();
  const document = app.swagger();
  await app.close();
  return document;
}
