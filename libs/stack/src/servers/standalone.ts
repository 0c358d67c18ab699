// standalone.ts: one server of the stack without a stack around it. Everything is kept in one folder, created when absent; nothing
// runs before `start`.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '@holdfast/config';
import { findBinary } from '../binaries/find-binary.ts';
import { natsServerBinary } from '../binaries/pinned.ts';
import { resolvePaths } from '../paths.ts';
import type { ProcessSpec } from '../plan.ts';
import { openPortBook } from '../ports.ts';
import { SupervisedProcess } from '../supervisor/supervised-process.ts';
import { natsServer } from './nats.ts';
import { choosePostgresAccount } from './postgres-account.ts';
import { findPostgresBinaries } from './postgres-binaries.ts';
import { postgresServer } from './postgres.ts';

export type StandaloneServer = {
  /** With credentials; the same for every start. */
  url: string;
  /** Resolves when it serves. */
  start(): Promise<void>;
  /** Ends it under its clients; what it has stored stays. Resolves when the process is gone. */
  stop(): Promise<void>;
};

/** A Postgres; `url` is that of its database `holdfast`. */
export async function createStandalonePostgres(options: {
  folder: string;
  password: string;
  env: Env;
}): Promise<StandaloneServer> {
  const { folder, password, env } = options;
  const { spec, url } = await postgresServer({
    binaries: await findPostgresBinaries(env),
    account: await choosePostgresAccount(env),
    port: await choosePort(folder),
    password,
    dataDir: join(folder, 'data'),
    env,
  });
  return { url, ...toLife(spec, folder) };
}

/** A NATS server with JetStream. @param options.root the checkout whose pinned server it is */
export async function createStandaloneNats(options: {
  folder: string;
  token: string;
  root: string;
  env: Env;
}): Promise<StandaloneServer> {
  const { folder, token, root, env } = options;
  const { cacheDir, toolsDir } = resolvePaths({ root, env });
  const onProgress = () => undefined;
  const { spec, url } = await natsServer({
    binary: await findBinary(natsServerBinary, { env, cacheDir, toolsDir, onProgress }),
    port: await choosePort(folder),
    token,
    stateDir: folder,
    env,
  });
  return { url, ...toLife(spec, folder) };
}

function choosePort(folder: string): Promise<number> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const book = openPortBook({ file: join(folder, 'ports.json'), onNotice: () => undefined });
  return book.choose('standalone');
}

function toLife(spec: ProcessSpec, folder: string): Pick<StandaloneServer, 'start' | 'stop'> {
  let running: SupervisedProcess | undefined;
  return {
    start: () => {
      running ??= new SupervisedProcess({
        spec,
        logFile: join(folder, 'server.log'),
        onSpawn: () => undefined,
      });
      return running.start();
    },
    stop: async () => {
      await running?.stop();
      running = undefined;
    },
  };
}
