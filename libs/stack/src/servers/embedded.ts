import { join } from 'node:path';
import type { Env } from '@holdfast/config';
import { findBinary } from '../binaries/find-binary.ts';
import { natsServerBinary, type PinnedBinary, temporalBinary } from '../binaries/pinned.ts';
import type { StackPaths } from '../paths.ts';
import type { ProcessSpec } from '../plan.ts';
import type { PortBook } from '../ports.ts';
import type { Secrets } from '../secrets.ts';
import type { StackEndpoints } from './endpoints.ts';
import { natsServer } from './nats.ts';
import { choosePostgresAccount } from './postgres-account.ts';
import { findPostgresBinaries } from './postgres-binaries.ts';
import { postgresServer } from './postgres.ts';
import { type DynamicConfig, EMBEDDED_NAMESPACE, temporalServer } from './temporal.ts';

export type ServerOptions = {
  paths: StackPaths;
  env: Env;
  secrets: Secrets;
  ports: PortBook;
  temporalDynamicConfig?: DynamicConfig;
  onProgress: (line: string) => void;
  /** Ends a download or build under way. */
  signal?: AbortSignal;
};

type Server<Endpoint> = { spec: ProcessSpec | null; endpoint: Endpoint };

/**
 * The servers that the stack has to run itself, and where all three are. TEMPORAL_ADDRESS (with TEMPORAL_NAMESPACE),
 * DATABASE_URL and NATS_URL each replace an embedded server.
 */
export async function planServers(
  options: ServerOptions,
): Promise<{ specs: ProcessSpec[]; endpoints: StackEndpoints }> {
  const [temporal, database, nats] = await Promise.all([
    planTemporal(options),
    planPostgres(options),
    planNats(options),
  ]);
  return {
    specs: [temporal.spec, database.spec, nats.spec].filter((spec) => spec !== null),
    endpoints: { temporal: temporal.endpoint, database: database.endpoint, nats: nats.endpoint },
  };
}

async function planTemporal(options: ServerOptions): Promise<Server<StackEndpoints['temporal']>> {
  const { env, paths, ports, temporalDynamicConfig } = options;
  const external = env['TEMPORAL_ADDRESS'];
  if (external) {
    return {
      spec: null,
      endpoint: { address: external, namespace: env['TEMPORAL_NAMESPACE'] ?? 'default', external: true },
    };
  }
  const { spec, address } = await temporalServer({
    binary: await findServerBinary(temporalBinary, options),
    port: await ports.choose('temporal'),
    stateDir: join(paths.stateDir, 'temporal'),
    env,
    ...(temporalDynamicConfig && { dynamicConfig: temporalDynamicConfig }),
  });
  return { spec, endpoint: { address, namespace: EMBEDDED_NAMESPACE, external: false } };
}

async function planPostgres(options: ServerOptions): Promise<Server<StackEndpoints['database']>> {
  const { env, paths, ports, secrets } = options;
  const external = env['DATABASE_URL'];
  if (external) return { spec: null, endpoint: { url: external, external: true } };
  const [binaries, account] = await Promise.all([findPostgresBinaries(env), choosePostgresAccount(env)]);
  const port = await ports.choose('postgres');
  const dataDir = join(paths.stateDir, 'postgres');
  const { spec, url } = await postgresServer({
    binaries,
    account,
    port,
    password: secrets.postgresPassword,
    dataDir,
    env,
  });
  return { spec, endpoint: { url, external: false } };
}

async function planNats(options: ServerOptions): Promise<Server<StackEndpoints['nats']>> {
  const { env, paths, ports, secrets } = options;
  const external = env['NATS_URL'];
  if (external) return { spec: null, endpoint: { url: external, external: true } };
  const binary = await findServerBinary(natsServerBinary, options);
  const port = await ports.choose('nats');
  const stateDir = join(paths.stateDir, 'nats');
  const { spec, url } = await natsServer({ binary, port, token: secrets.natsToken, stateDir, env });
  return { spec, endpoint: { url, external: false } };
}

function findServerBinary(
  binary: PinnedBinary,
  { env, paths, onProgress, signal }: ServerOptions,
): Promise<string> {
  const { cacheDir, toolsDir } = paths;
  return findBinary(binary, { env, cacheDir, toolsDir, onProgress, ...(signal && { signal }) });
}
