export { runActivity, toApplicationFailure } from './activity.ts';
export { createLazyClient } from './connection.ts';
export type { TemporalAddress } from './connection.ts';
export { runUntilStopped } from './service.ts';
export type { ProcessHost, RunningService } from './service.ts';
export { startWorker } from './worker.ts';
export type { RunningWorker, WorkerSettings } from './worker.ts';
