import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { join } from 'node:path';
import type { Env } from '@holdfast/config';
import { withDeathSignal } from '../death-signal.ts';
import type { ProcessSpec } from '../plan.ts';

export const EMBEDDED_NAMESPACE = 'holdfast';

export type DynamicConfig = Readonly<Record<string, string | number | boolean>>;

// With the server's defaults every schedule-to-start waits on a limiter of 20 polls a second and a shard: 100 ms for an
// activity where 11 ms are possible. One partition saves a forward between the four that a queue has by default.
const DYNAMIC_CONFIG: DynamicConfig = {
  'history.transferProcessorMaxPollRPS': 1000,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  'frontend.enableCancelWorkerPollsOnShutdown': true,
};

/**
 * The Temporal development server on a SQLite file. Its frontend listens on `port`; HTTP, metrics and the inner services
 * take ports that the kernel finds free, all on 127.0.0.1. The web UI is off. `dynamicConfig` overrides the settings
 * above. A database that was never complete (its server was killed while making the schema) is made anew.
 */
export async function temporalServer(options: {
  binary: string;
  port: number;
  /** Folder of the database; created when absent. */
  stateDir: string;
  env: Env;
  dynamicConfig?: DynamicConfig;
}): Promise<{ spec: ProcessSpec; address: string }> {
  const { binary, port, stateDir, env, dynamicConfig } = options;
  const database = join(stateDir, 'temporal.db');
  const complete = join(stateDir, 'complete');
  const address = `127.0.0.1:${port}`;
  const settings = Object.entries({ ...DYNAMIC_CONFIG, ...dynamicConfig });
  const flags = {
    '--ip': '127.0.0.1',
    '--port': String(port),
    '--namespace': EMBEDDED_NAMESPACE,
    '--db-filename': database,
  };
  // No --log-level: the server's own default is warn as well, and only then is it quiet about its own shutdown.
  const switches = ['--headless', '--disable-config-file', '--disable-config-env'];
  const pragmas = ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'];
  const dynamic = settings.flatMap(([key, value]) => [
    '--dynamic-config-value',
    `${key}=${JSON.stringify(value)}`,
  ]);
  const args = ['server', 'start-dev', ...switches, ...Object.entries(flags).flat(), ...pragmas, ...dynamic];
  const line = await withDeathSignal({ command: binary, args }, { signal: 'TERM', env });
  const spec: ProcessSpec = {
    name: 'temporal',
    roles: ['temporal'],
    command: line.command,
    args: [...line.args],
    // Its own HOME keeps a person's CLI settings out of the server.
    env: { PATH: env['PATH'] ?? '', HOME: stateDir },
    cwd: stateDir,
    dependsOn: [],
    readiness: { kind: 'probe', probe: () => isServing({ address, complete }) },
    addresses: { temporal: address },
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5_000,
    parentPipe: false,
    async prepare() {
      mkdirSync(stateDir, { recursive: true, mode: 0o700 });
      if (existsSync(complete)) return;
      for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${database}${suffix}`, { force: true });
    },
  };
  return { spec, address };
}

async function isServing({ address, complete }: { address: string; complete: string }): Promise<boolean> {
  if (!(await describesNamespace(address))) return false;
  if (!existsSync(complete)) writeFileSync(complete, '', { mode: 0o600 });
  return true;
}

const CALL_TIMEOUT_MS = 1_000;
const DESCRIBE_NAMESPACE = '/temporal.api.workflowservice.v1.WorkflowService/DescribeNamespace';

/** One unary gRPC call by hand, so that asking for readiness needs no client library. */
function describesNamespace(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const session = connect(`http://${address}`);
    const finish = (serving: boolean): void => {
      clearTimeout(timeout);
      session.destroy();
      resolve(serving);
    };
    const timeout = setTimeout(() => finish(false), CALL_TIMEOUT_MS);
    session.once('error', () => finish(false));
    const stream = session.request({
      ':method': 'POST',
      ':path': DESCRIBE_NAMESPACE,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.once('error', () => finish(false));
    stream.once('response', (headers) => {
      if (headers['grpc-status'] !== undefined) finish(headers['grpc-status'] === '0');
    });
    stream.once('trailers', (trailers) => finish(trailers['grpc-status'] === '0'));
    stream.resume();
    stream.end(toGrpcFrame(EMBEDDED_NAMESPACE));
  });
}

/** A DescribeNamespaceRequest whose first field is the name, in the five-byte frame of gRPC. */
function toGrpcFrame(namespace: string): Buffer {
  const name = Buffer.from(namespace);
  const message = Buffer.concat([Buffer.from([0x0a, name.length]), name]);
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(message.length, 1);
  return Buffer.concat([frame, message]);
}
