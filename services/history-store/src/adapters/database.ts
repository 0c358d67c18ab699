// database.ts: the connections to Postgres. Foreign errors become failures here, by SQLSTATE, and nowhere else.
import { Failure, isFailureCode } from '@holdfast/failures';
import pg from 'pg';

/** Prepared once per connection under its name; `text` is one statement. */
export type Statement = { name: string; text: string };

export type Database = {
  /** One round trip, one transaction. @throws Failure, or the foreign error when the statement itself is wrong */
  query<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
  /** Runs `work` on one connection that nobody else uses meanwhile. */
  withConnection<T>(work: (connection: pg.ClientBase) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

export type DatabaseOptions = {
  /** `postgres://user:password@host:port/database` */
  url: string;
  /** Shown by pg_stat_activity. */
  name: string;
  connections: number;
  /** False: a commit does not wait for the disk; only for what may be lost without harm. */
  durable?: boolean;
};

const connectLimitMs = 5_000;
/** A statement takes milliseconds; one that takes this long waits for a lock or for a database that hangs. */
const statementLimitMs = 20_000;
/** Longer than the limit the server keeps, so that only a silent server is cut off by the client. */
const replyLimitMs = 25_000;

/** Connects on first use and again after a loss, so that it can be made while Postgres is away. */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.name,
    max: options.connections,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: connectLimitMs,
    statement_timeout: statementLimitMs,
    query_timeout: replyLimitMs,
    keepAlive: true,
    ...(options.durable === false ? { options: '-c synchronous_commit=off' } : {}),
  });
  pool.on('error', () => undefined);
  const withConnection = async <T>(work: (connection: pg.ClientBase) => Promise<T>): Promise<T> => {
    const client = await pool.connect().catch((error: unknown) => Promise.reject(toFailure(error)));
    let broken = false;
    try {
      return await work(client);
    } catch (error) {
      const failure = toFailure(error);
      broken = failure instanceof Failure && failure.code === 'store.unavailable';
      throw failure;
    } finally {
      client.release(broken);
    }
  };
  return {
    query: <Row extends object>(statement: Statement, values: readonly unknown[]) =>
      withConnection(async (client) => (await client.query<Row>({ ...statement, values: [...values] })).rows),
    withConnection,
    close: () => pool.end(),
  };
}

/** Raised by our own functions: the message is the failure code. */
const expectedFailure = 'HF001';

/** Classes and codes of SQLSTATE after which the same request may succeed: connection, authorization, resources, shutdown, locks, standby. */
const passing = ['08', '28', '3D', '53', '57', '58', '40', '55P03', '25006'];

function toFailure(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) {
    if (error.code === expectedFailure && isFailureCode(error.message)) {
      return new Failure(error.message, error.detail ? { detail: error.detail } : {});
    }
    const isPassing = passing.some((prefix) => error.code?.startsWith(prefix));
    return isPassing ? new Failure('store.unavailable', { detail: error.message, cause: error }) : error;
  }
  if (error instanceof Failure || error instanceof TypeError || error instanceof RangeError) return error;
  return new Failure('store.unavailable', { cause: error });
}
