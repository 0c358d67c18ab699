import { dirname } from 'node:path';
import { StackError, stackCodes } from '../stack-error.ts';

// Generous: a refused connection is known at once, and a busy machine takes its time to admit one.
const CONNECT_TIMEOUT_MS = 5_000;
const WRONG_PASSWORD = '28P01';
const DATABASE_EXISTS = '42P04';
const NO_SUCH_DATABASE = '3D000';

/**
 * Whether the database at `url` answers. Creates it when the server runs but has no such database yet.
 * Throws `stack.start-failed` when the password is not the one the cluster was made with.
 */
export async function isDatabaseServing({
  url,
  dataDir,
}: {
  url: string;
  dataDir: string;
}): Promise<boolean> {
  try {
    await queryOnce(url, 'select 1');
    return true;
  } catch (error) {
    if (codeOf(error) === WRONG_PASSWORD) {
      throw new StackError(
        stackCodes.startFailed,
        `The password in secrets.json is not that of the Postgres files in ${dataDir}: restore secrets.json, or delete ${dirname(dataDir)} and lose its sessions`,
        { cause: error },
      );
    }
    if (codeOf(error) !== NO_SUCH_DATABASE) return false;
  }
  return createDatabase(url);
}

async function createDatabase(url: string): Promise<boolean> {
  const target = new URL(url);
  const name = target.pathname.slice(1);
  target.pathname = '/postgres';
  try {
    await queryOnce(target.href, `create database "${name}"`);
    return true;
  } catch (error) {
    return codeOf(error) === DATABASE_EXISTS;
  }
}

async function queryOnce(url: string, statement: string): Promise<void> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // A connection that breaks is reported by the pending call as well.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(statement);
  } finally {
    await client.end();
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
