// wiring.ts: everything a running history store consists of. Comes up while Postgres, NATS and Temporal are away and waits for them.
import type { HistoryStore } from '@holdfast/agent-loop';
import { toMasked } from '@holdfast/config';
import { queues } from '@holdfast/contracts';
import { createBus, ensureEventStream } from '@holdfast/events';
import { createPatientStore } from '@holdfast/store-client';
import { createLogger } from '@holdfast/telemetry';
import { startWorker, type RunningService } from '@holdfast/temporal-runtime';
import { createActivities } from './activities.ts';
import { openDatabase, type Database } from './adapters/database.ts';
import { createPostgresStore } from './adapters/postgres.ts';
import type { Config } from './config.ts';
import { Outbox } from './outbox.ts';
import { openSchemaGate, type SchemaGate } from './schema-gate.ts';
import { createServer } from './server.ts';

const shutdownGraceMs = 5_000;
const name = 'history-store';

export type RunningHistoryStore = RunningService & {
  port: number;
  /** The same store without its HTTP door, for services that share the process. */
  store: HistoryStore;
};

/** Resolves when the HTTP door is open. */
export async function runHistoryStore(config: Config): Promise<RunningHistoryStore> {
  const logger = createLogger({ service: name, level: config.HOLDFAST_LOG_LEVEL });
  logger.info({ config: toMasked(config) }, 'starting');
  const { main, side } = openDatabases(config);
  const gate = openSchemaGate({ database: main, migrates: config.HOLDFAST_MIGRATE === 'on', logger });
  const bus = createBus({ url: config.NATS_URL, name });
  const outbox = new Outbox({
    database: side,
    bus,
    logger,
    ensureStream: () => ensureEventStream({ url: config.NATS_URL }),
  });
  Promise.all([gate.opened, bus.ready()]).then(
    () => outbox.sweep(),
    () => undefined,
  );
  const store = createPostgresStore({ database: main, onEvents: (events) => outbox.publish(events) });
  const app = await createServer({
    store,
    token: config.HOLDFAST_INTERNAL_TOKEN,
    logger,
    obstacle: () => gate.obstacle(),
    readiness: () => checkReadiness(gate, main),
  });
  await app.listen({ host: config.HOLDFAST_STORE_HOST, port: config.HOLDFAST_STORE_PORT });
  const worker = startWorker({
    temporal: { address: config.TEMPORAL_ADDRESS, namespace: config.TEMPORAL_NAMESPACE },
    logger,
    identity: name,
    shutdownGraceMs,
    options: {
      taskQueue: queues.history,
      activities: createActivities(store),
      maxConcurrentActivityTaskPolls: 2,
    },
  });

  const stop = async (): Promise<void> => {
    gate.close();
    await worker.shutdown();
    await app.close();
    await outbox.close();
    await bus.close();
    await Promise.all([main.close(), side.close()]);
  };
  let stopped: Promise<void> | undefined;
  const address = app.server.address();
  const port = typeof address === 'object' && address ? address.port : config.HOLDFAST_STORE_PORT;
  const local = createPatientStore(store, { obstacle: () => gate.obstacle() });
  return { port, store: local, stop: () => (stopped ??= stop()) };
}

/** One pool for requests, one connection for the outbox, whose commits need not wait for the disk. */
function openDatabases(config: Config): { main: Database; side: Database } {
  const url = config.DATABASE_URL;
  return {
    main: openDatabase({ url, name, connections: config.HOLDFAST_STORE_CONNECTIONS }),
    side: openDatabase({ url, name: `${name} outbox`, connections: 1, durable: false }),
  };
}

async function checkReadiness(gate: SchemaGate, database: Database): Promise<string | undefined> {
  const obstacle = gate.obstacle();
  if (obstacle !== undefined) return obstacle;
  return database.query({ name: 'ready', text: 'select 1' }, []).then(
    () => undefined,
    () => 'Postgres cannot be reached',
  );
}
