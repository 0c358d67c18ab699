import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '@holdfast/config';
import { withDeathSignal } from '../death-signal.ts';
import type { ProcessSpec } from '../plan.ts';

const CONNECT_TIMEOUT_MS = 1_000;

/**
 * A NATS server with JetStream on files, on 127.0.0.1 only, that admits holders of the token. The configuration file
 * holds the token and is readable by its owner only. No monitoring port: readiness is a real connection. `url` carries
 * the token as its user name.
 */
export async function natsServer(options: {
  binary: string;
  port: number;
  token: string;
  /** Folder of the configuration and of JetStream's files; created when absent. */
  stateDir: string;
  env: Env;
}): Promise<{ spec: ProcessSpec; url: string }> {
  const { binary, port, token, stateDir, env } = options;
  const configuration = join(stateDir, 'nats.conf');
  const address = `127.0.0.1:${port}`;
  const line = await withDeathSignal(
    { command: binary, args: ['-c', configuration] },
    { signal: 'TERM', env },
  );
  const spec: ProcessSpec = {
    name: 'nats',
    roles: ['nats'],
    command: line.command,
    args: [...line.args],
    env: { PATH: env['PATH'] ?? '', HOME: stateDir },
    cwd: stateDir,
    dependsOn: [],
    readiness: { kind: 'probe', probe: () => admits({ address, token }) },
    addresses: { nats: address },
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5_000,
    parentPipe: false,
    async prepare() {
      mkdirSync(stateDir, { recursive: true, mode: 0o700 });
      writeFileSync(configuration, toConfiguration({ port, token, store: join(stateDir, 'jetstream') }), {
        mode: 0o600,
      });
      chmodSync(configuration, 0o600);
    },
  };
  return { spec, url: `nats://${token}@${address}` };
}

const toConfiguration = ({ port, token, store }: { port: number; token: string; store: string }): string =>
  [
    `listen: ${JSON.stringify(`127.0.0.1:${port}`)}`,
    'server_name: "holdfast"',
    `authorization { token: ${JSON.stringify(token)} }`,
    `jetstream { store_dir: ${JSON.stringify(store)} }`,
    '',
  ].join('\n');

async function admits({ address, token }: { address: string; token: string }): Promise<boolean> {
  const { connect } = await import('@nats-io/transport-node');
  try {
    const connection = await connect({
      servers: address,
      token,
      reconnect: false,
      timeout: CONNECT_TIMEOUT_MS,
    });
    await connection.close();
    return true;
  } catch {
    return false;
  }
}
