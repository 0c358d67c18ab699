import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '@holdfast/history-store';
import { createStandalonePostgres, type StandaloneServer } from '@holdfast/stack';

/** A Postgres for a test file, and empty databases in it. */
export type TestDatabases = Pick<StandaloneServer, 'start' | 'stop'> & {
  /** Makes an empty database and returns its URL. */
  create(): Promise<string>;
  close(): Promise<void>;
};

export async function startTestDatabases(): Promise<TestDatabases> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-postgres-'));
  const postgres = await createStandalonePostgres({
    folder,
    password: 'of-the-conformance-test',
    env: process.env,
  });
  await postgres.start();
  let count = 0;
  return {
    start: () => postgres.start(),
    stop: () => postgres.stop(),
    create: async () => {
      const name = `test_${(count += 1)}`;
      const database = openDatabase({ url: postgres.url, name: 'setup', connections: 1 });
      await database.query({ name: `create-${name}`, text: `create database ${name}` }, []);
      await database.close();
      return Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href;
    },
    close: async () => {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
