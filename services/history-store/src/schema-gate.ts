// schema-gate.ts: nothing is served before the schema is at least what this code needs. Keeps trying while Postgres is away.
import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '@holdfast/failures';
import type { Logger } from '@holdfast/telemetry';
import type { Database } from './adapters/database.ts';
import { migrate, readSchemaVersion } from './adapters/migrations.ts';

export type SchemaGate = {
  /** Undefined once the schema is known to be good; else the reason why not. */
  obstacle(): string | undefined;
  /** Resolves when the gate is open; rejects when it is closed first. */
  opened: Promise<void>;
  close(): void;
};

const retryPauseMs = 250;

export function openSchemaGate(options: {
  database: Database;
  migrates: boolean;
  logger: Logger;
}): SchemaGate {
  const stop = new AbortController();
  const state = { obstacle: 'Postgres has not answered yet' as string | undefined };
  const opened = (async () => {
    for (;;) {
      const obstacle = await prepare(options);
      if (obstacle !== state.obstacle) options.logger.info({ obstacle }, obstacle ?? 'schema is ready');
      state.obstacle = obstacle;
      if (obstacle === undefined) return;
      await pause(retryPauseMs, undefined, { signal: stop.signal });
    }
  })();
  opened.catch(() => undefined);
  return { obstacle: () => state.obstacle, opened, close: () => stop.abort() };
}

async function prepare(options: {
  database: Database;
  migrates: boolean;
  logger: Logger;
}): Promise<string | undefined> {
  try {
    const { found, needed } = await (options.migrates
      ? migrate(options.database)
      : readSchemaVersion(options.database));
    if (found >= needed) return undefined;
    return `the schema is at version ${found} and this service needs ${needed}; start one history store with HOLDFAST_MIGRATE=on`;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    options.logger.error({ err: error }, 'the schema could not be migrated; trying again');
    return 'the schema could not be migrated';
  }
}
