import type { Logger } from '@holdfast/telemetry';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Runtime, type Logger as SdkLogger } from '@temporalio/worker';

export type TemporalAddress = { address: string; namespace: string };

let installed = false;

/** Once per process, before the first worker: the SDK's own log goes to ours, and signals stay with the service. */
export function installRuntime(logger: Logger): void {
  if (installed) return;
  installed = true;
  Runtime.install({ shutdownSignals: [], workerHeartbeatInterval: '10s', logger: toSdkLogger(logger) });
}

/** What the SDK warns of although it is meant to be so: a worker here has either workflows or activities. */
const expectedWarnings: ReadonlySet<string> = new Set([
  'No workflows registered, not polling for workflow tasks',
  'No activities registered, not polling for activity tasks',
]);

/** The SDK's own log as ours: warnings and errors as they are, everything else for debugging. */
export function toSdkLogger(logger: Logger): SdkLogger {
  const log = (level: 'debug' | 'warn' | 'error') => (message: string, meta?: object) =>
    logger[level]({ sdk: true, ...meta }, message);
  return {
    log: (level, message, meta) => log(level === 'ERROR' ? 'error' : 'debug')(message, meta),
    trace: log('debug'),
    debug: log('debug'),
    info: log('debug'),
    warn: (message, meta) => log(expectedWarnings.has(message) ? 'debug' : 'warn')(message, meta),
    error: log('error'),
  };
}

const retryPauseMs = 200;

/** Waits for the server as long as it takes, unless `signal` aborts. Compression is off: the hops are on a local network. */
export async function connectWorker(target: TemporalAddress, signal: AbortSignal): Promise<NativeConnection> {
  return repeat(
    () => NativeConnection.connect({ address: target.address, grpcCompression: { codec: 'none' } }),
    signal,
  );
}

/**
 * A client that connects on first use, so that a service starts while Temporal is away.
 * @param target.identity stored in history events, so short and without a host name
 */
export function createLazyClient(target: TemporalAddress & { identity: string }): {
  client: Client;
  close(): Promise<void>;
} {
  const connection = Connection.lazy({ address: target.address });
  return {
    client: new Client({ connection, namespace: target.namespace, identity: target.identity }),
    close: () => connection.close(),
  };
}

async function repeat<T>(connect: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await connect();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, retryPauseMs));
    }
  }
}
