import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Env } from '@holdfast/config';
import { withDeathSignal } from '../death-signal.ts';
import { run } from '../executables.ts';
import type { ProcessSpec } from '../plan.ts';
import { readCommandLine } from '../process-identity.ts';
import { StackError, stackCodes } from '../stack-error.ts';
import { asAccount, type PostgresAccount } from './postgres-account.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { isDatabaseServing } from './postgres-probe.ts';

const OWNER = 'holdfast';

export type PostgresOptions = {
  binaries: PostgresBinaries;
  account: PostgresAccount;
  port: number;
  password: string;
  /** Folder of the cluster; created when absent, complete or not there at all. */
  dataDir: string;
  env: Env;
};

/**
 * A Postgres cluster of its own on 127.0.0.1, with a password and without unix sockets; `url` is that of its database
 * `holdfast`, credentials included. The cluster is made at a temporary name and renamed when complete.
 */
export async function postgresServer(options: PostgresOptions): Promise<{ spec: ProcessSpec; url: string }> {
  const { binaries, account, port, password, dataDir, env } = options;
  const address = `127.0.0.1:${port}`;
  const url = `postgres://${OWNER}:${password}@${address}/holdfast`;
  const settings = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    log_timezone: 'UTC',
    timezone: 'UTC',
  };
  const server = await withDeathSignal(
    {
      command: binaries.postgres,
      args: ['-D', dataDir, ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])],
    },
    { signal: 'INT', env },
  );
  // The namespace or user comes before the death signal, which the kernel drops when either changes.
  const line = asAccount(account, server);
  const spec: ProcessSpec = {
    name: 'postgres',
    roles: ['postgres'],
    command: line.command,
    args: [...line.args],
    env: { PATH: env['PATH'] ?? '', HOME: dirname(dataDir) },
    cwd: dirname(dataDir),
    dependsOn: [],
    readiness: { kind: 'probe', probe: () => isDatabaseServing({ url, dataDir }) },
    addresses: { postgres: address },
    // A fast shutdown: open transactions are rolled back and nobody is waited for.
    stopSignal: 'SIGINT',
    stopTimeoutMs: 10_000,
    parentPipe: false,
    prepare: () => prepareCluster(options),
  };
  return { spec, url };
}

async function prepareCluster(options: PostgresOptions): Promise<void> {
  const { account, dataDir, env } = options;
  removeUnfinishedClusters(dataDir);
  if (!existsSync(dataDir)) await createCluster(options);
  if (statSync(dataDir).uid !== account.uid) {
    await run('chown', ['-R', `${account.uid}:${account.gid}`, dataDir], { env });
  }
  removeStalePidFile(dataDir);
}

async function createCluster({ binaries, account, password, dataDir, env }: PostgresOptions): Promise<void> {
  const unfinished = `${dataDir}.unfinished-${process.pid}`;
  const passwordFile = `${unfinished}.password`;
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  chownSync(unfinished, account.uid, account.gid);
  writeFileSync(passwordFile, password, { mode: 0o600 });
  chmodSync(passwordFile, 0o600);
  const access = ['-U', OWNER, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
  const layout = ['-D', unfinished, '--encoding=UTF8', '--locale=C.UTF-8', '--no-instructions'];
  const { command, args } = asAccount(account, { command: binaries.initdb, args: [...access, ...layout] });
  const made = await run(command, args, { env: { PATH: env['PATH'] ?? '' }, cwd: dirname(dataDir) });
  rmSync(passwordFile, { force: true });
  if (!made.ok) {
    rmSync(unfinished, { recursive: true, force: true });
    const reason = made.stderr.trim().split('\n').at(-1) ?? '';
    throw new StackError(
      stackCodes.startFailed,
      `Postgres could not make its files in ${dataDir} (${reason}): repair that, or set DATABASE_URL to a running Postgres.`,
    );
  }
  renameSync(unfinished, dataDir);
}

function removeUnfinishedClusters(dataDir: string): void {
  const prefix = `${basename(dataDir)}.unfinished-`;
  for (const entry of readdirSync(dirname(dataDir))) {
    if (entry.startsWith(prefix)) rmSync(join(dirname(dataDir), entry), { recursive: true, force: true });
  }
}

/**
 * After kill -9 the pid file stays, and Postgres refuses to start when that pid belongs to any living process, which is
 * likely after a container restart. The supervisor lock says that nobody else starts this cluster.
 */
function removeStalePidFile(dataDir: string): void {
  const file = join(dataDir, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  const isOurs = readCommandLine(pid).includes(dataDir);
  if (!isOurs) rmSync(file, { force: true });
}
