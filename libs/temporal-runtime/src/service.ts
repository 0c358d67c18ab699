// service.ts: the life of a service process: start, run until told to stop, stop within bounded time.

/** What every service's `start…` function returns, so that one process can host one service or several. */
export type RunningService = {
  /** Stops taking work, lets running work end within the grace period, closes everything. Idempotent. */
  stop(): Promise<void>;
};

export type ProcessHost = {
  /** Started with its stdin held open by a supervisor: end of file means that the supervisor is gone. */
  parentPipe: boolean;
  /** The process ends after this time even when `stop` hangs. */
  stopLimitMs: number;
};

/** Whoever lost its supervisor is losing the servers around it, too: a long goodbye would reach nobody. */
const orphanLimitMs = 1_000;

/** Runs services until SIGTERM, SIGINT or the end of the supervisor, then exits 0. A start that throws is the caller's. */
export async function runUntilStopped(services: readonly RunningService[], host: ProcessHost): Promise<void> {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<number>();
  process.once('SIGTERM', () => stop(host.stopLimitMs));
  process.once('SIGINT', () => stop(host.stopLimitMs));
  const stopOrphan = (): void => stop(Math.min(orphanLimitMs, host.stopLimitMs));
  if (host.parentPipe) process.stdin.once('end', stopOrphan).once('close', stopOrphan).resume();
  const limitMs = await stopped;
  setTimeout(() => process.exit(1), limitMs).unref();
  await Promise.all(services.map((service) => service.stop()));
  process.exit(0);
}
