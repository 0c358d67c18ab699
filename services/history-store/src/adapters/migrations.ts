// migrations.ts: the schema as numbered SQL files, applied in order, each in its own transaction, under one lock for all processes.
import { readdirSync, readFileSync } from 'node:fs';
import type { ClientBase } from 'pg';
import type { Database } from './database.ts';

type Migration = { version: number; name: string; sql: string };

export type SchemaVersion = { found: number; needed: number };

const folder = new URL('../migrations/', import.meta.url);
const lockKey = 7_203_114_058;

/** The files of src/migrations, in order; the number before the first dash is the version. */
function readMigrations(): Migration[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .map((name) => ({
      version: Number.parseInt(name, 10),
      name,
      sql: readFileSync(new URL(name, folder), 'utf8'),
    }));
}

/** Brings the schema to what this code needs; a newer schema is left alone. Safe when several processes do it at once. */
export async function migrate(database: Database): Promise<SchemaVersion> {
  const migrations = readMigrations();
  return database.withConnection(async (connection) => {
    await connection.query('select pg_advisory_lock($1)', [lockKey]);
    try {
      await connection.query(
        'create table if not exists schema_migrations (version integer primary key, name text not null, applied_at timestamptz not null default now())',
      );
      const found = await readVersion(connection);
      for (const migration of migrations) {
        if (migration.version > found) await apply(connection, migration);
      }
      return { found: Math.max(found, newest(migrations)), needed: newest(migrations) };
    } finally {
      await connection.query('select pg_advisory_unlock($1)', [lockKey]).catch(() => undefined);
    }
  });
}

/** What is there and what this code needs, without changing anything. */
export async function readSchemaVersion(database: Database): Promise<SchemaVersion> {
  return database.withConnection(async (connection) => {
    const { rows } = await connection.query("select to_regclass('schema_migrations') is not null as known");
    const found = rows[0].known ? await readVersion(connection) : 0;
    return { found, needed: newest(readMigrations()) };
  });
}

async function readVersion(connection: ClientBase): Promise<number> {
  const { rows } = await connection.query<{ version: number | null }>(
    'select max(version) as version from schema_migrations',
  );
  return rows[0]?.version ?? 0;
}

async function apply(connection: ClientBase, migration: Migration): Promise<void> {
  await connection.query('begin');
  try {
    await connection.query(migration.sql);
    await connection.query('insert into schema_migrations (version, name) values ($1, $2)', [
      migration.version,
      migration.name,
    ]);
    await connection.query('commit');
  } catch (error) {
    await connection.query('rollback').catch(() => undefined);
    throw error;
  }
}

function newest(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}
