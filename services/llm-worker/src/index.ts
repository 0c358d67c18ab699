export { createModelDirectory } from './adapters/model-directory.ts';
export type { ModelDirectoryOptions } from './adapters/model-directory.ts';
export type {
  AttemptStreamer,
  DeltaSink,
  ModelDirectory,
  ResolvedModel,
  SampleAttempt,
} from './domain/ports.ts';
export { withRetries } from './domain/retries.ts';
export type { RetryOptions } from './domain/retries.ts';
export { createModelStreamer } from './model-streamer.ts';
export type { ModelStreamerDeps } from './model-streamer.ts';
export { startLlmWorker } from './service.ts';
