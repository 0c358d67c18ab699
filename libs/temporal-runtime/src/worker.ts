// worker.ts: one Temporal worker that stays alive. A worker that fails for good is replaced; a shutdown drains it in bounded time.
import type { Logger } from '@holdfast/telemetry';
import { Worker, type NativeConnection, type WorkerOptions } from '@temporalio/worker';
import { connectWorker, installRuntime, type TemporalAddress } from './connection.ts';

export type RunningWorker = {
  /** True while the worker polls. */
  isRunning(): boolean;
  /** Resolves when the first poll has been started. */
  ready(): Promise<void>;
  /** Stops polling, lets running tasks end within the grace time, then ends. Idempotent. */
  shutdown(): Promise<void>;
};

export type WorkerSettings = {
  temporal: TemporalAddress;
  logger: Logger;
  /** Shown by Temporal as the poller; short, because it is stored in every history event. */
  identity: string;
  /** How long running activities may go on after shutdown began, in milliseconds. */
  shutdownGraceMs: number;
  options: Omit<
    WorkerOptions,
    'connection' | 'namespace' | 'identity' | 'shutdownGraceTime' | 'shutdownForceTime'
  >;
};

const forceMarginMs = 2_000;
const restartPauseMs = 500;

export function startWorker(settings: WorkerSettings): RunningWorker {
  installRuntime(settings.logger);
  const stop = new AbortController();
  const state: { worker?: Worker } = {};
  const { promise: polling, resolve: polled } = Promise.withResolvers<void>();
  const done = keepRunning(settings, stop.signal, (worker) => {
    state.worker = worker;
    polled();
  });
  return {
    isRunning: () => state.worker?.getState() === 'RUNNING',
    ready: () => polling,
    shutdown: async () => {
      stop.abort();
      if (state.worker?.getState() === 'RUNNING') state.worker.shutdown();
      await done;
    },
  };
}

async function keepRunning(
  settings: WorkerSettings,
  signal: AbortSignal,
  started: (worker: Worker) => void,
): Promise<void> {
  while (!signal.aborted) {
    let connection: NativeConnection | undefined;
    try {
      connection = await connectWorker(settings.temporal, signal);
      const worker = await createWorker(settings, connection);
      const running = worker.run();
      started(worker);
      if (signal.aborted) worker.shutdown();
      await running;
    } catch (error) {
      if (signal.aborted) break;
      settings.logger.error(
        { err: error, queue: settings.options.taskQueue },
        'worker failed; starting it again',
      );
      await new Promise((resolve) => setTimeout(resolve, restartPauseMs));
    } finally {
      await connection?.close().catch(() => undefined);
    }
  }
}

function createWorker(settings: WorkerSettings, connection: NativeConnection): Promise<Worker> {
  return Worker.create({
    maxHeartbeatThrottleInterval: '1s',
    ...settings.options,
    connection,
    namespace: settings.temporal.namespace,
    identity: settings.identity,
    shutdownGraceTime: settings.shutdownGraceMs,
    shutdownForceTime: settings.shutdownGraceMs + forceMarginMs,
  });
}
