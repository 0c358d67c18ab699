import type { HistoryStore } from '@holdfast/agent-loop';
import { createSecretBox, toMasked, type Env } from '@holdfast/config';
import { queues } from '@holdfast/contracts';
import { createBus } from '@holdfast/events';
import { startHealthServer } from '@holdfast/http-service';
import { createHttpStore } from '@holdfast/store-client';
import { createLogger } from '@holdfast/telemetry';
import { startWorker, type RunningService } from '@holdfast/temporal-runtime';
import { createLlmActivities } from './activities/sample.ts';
import { createModelDirectory } from './adapters/model-directory.ts';
import { readConfig, type LlmWorkerConfig } from './config.ts';
import { createRunningSamples } from './domain/running-samples.ts';
import { createModelStreamer } from './model-streamer.ts';

/** Model calls mostly wait, so many fit into one process; more workers are added when their CPU is full. */
const concurrentSamples = 64;
const pollers = 4;

/**
 * Serves queue `llm`; comes up while Temporal, NATS and the store are away. `peers.store` replaces the HTTP client where
 * the history store shares the process. @throws ConfigError
 */
export async function startLlmWorker(
  env: Env,
  peers: { store?: HistoryStore } = {},
): Promise<RunningService> {
  const config = readConfig(env);
  const logger = createLogger({ service: 'llm-worker', level: config.HOLDFAST_LOG_LEVEL });
  logger.info({ config: toMasked(config) }, 'starting');
  const bus = createBus({ url: config.NATS_URL, name: 'llm-worker' });
  const models = toModelDirectory(config);
  const stopped = new AbortController();
  const address = { url: config.HOLDFAST_STORE_URL, token: config.HOLDFAST_INTERNAL_TOKEN };
  const store = peers.store ?? createHttpStore({ ...address, signal: stopped.signal });
  const idleMs = config.HOLDFAST_LLM_STREAM_IDLE_MS;
  const samples = createRunningSamples(
    createModelStreamer({ store, models, deltas: bus, announcer: bus, idleMs }),
  );
  const unsubscribe = bus.subscribeCancels('llm', (hint) => samples.cancel(hint));
  const worker = startWorker({
    temporal: { address: config.TEMPORAL_ADDRESS, namespace: config.TEMPORAL_NAMESPACE },
    logger,
    identity: `llm-${process.pid}`,
    shutdownGraceMs: config.HOLDFAST_LLM_SHUTDOWN_GRACE_MS,
    options: {
      taskQueue: queues.llm,
      activities: createLlmActivities(samples),
      maxConcurrentActivityTaskExecutions: concurrentSamples,
      maxConcurrentActivityTaskPolls: pollers,
    },
  });
  const health = await startHealthServer({
    service: 'llm-worker',
    port: config.HOLDFAST_LLM_WORKER_HEALTH_PORT,
    logger,
    readiness: () => (worker.isRunning() ? undefined : 'not polling Temporal yet'),
  });
  return {
    stop: async () => {
      await worker.shutdown();
      stopped.abort();
      unsubscribe();
      await Promise.all([bus.close(), models.close(), health.close()]);
    },
  };
}

function toModelDirectory(config: LlmWorkerConfig) {
  return createModelDirectory({
    baseUrl: config.OPENAI_BASE_URL,
    apiKey: config.OPENAI_API_KEY,
    defaultModel: config.HOLDFAST_MODEL,
    secretBox: createSecretBox(config.HOLDFAST_SECRET_KEY),
  });
}
