import type { Env } from '@holdfast/config';
import { toMasked } from '@holdfast/config';
import { queues } from '@holdfast/contracts';
import { startHealthServer } from '@holdfast/http-service';
import { createLogger } from '@holdfast/telemetry';
import { startWorker, type RunningService } from '@holdfast/temporal-runtime';
import { workflowsPath } from './bundle.ts';
import { readConfig, type OrchestratorConfig } from './config.ts';

/**
 * A worker whose task is not taken within this time is taken to be dead and the task goes to any other worker.
 * The SDK's default of 10 s would be the pause that a person sees after a crash.
 */
const stickyTimeout = '2s';

/** Runs workflows and nothing else. @throws ConfigError */
export async function startOrchestrator(env: Env): Promise<RunningService> {
  const config = readConfig(env);
  const logger = createLogger({ service: 'orchestrator', level: config.HOLDFAST_LOG_LEVEL });
  logger.info({ config: toMasked(config) }, 'starting');
  const worker = startWorker({
    temporal: { address: config.TEMPORAL_ADDRESS, namespace: config.TEMPORAL_NAMESPACE },
    logger,
    identity: 'orchestrator',
    shutdownGraceMs: 2_000,
    options: {
      taskQueue: queues.orchestrator,
      ...toWorkflowSource(config),
      maxCachedWorkflows: config.HOLDFAST_WORKFLOW_CACHE_SIZE,
      stickyQueueScheduleToStartTimeout: stickyTimeout,
      enableNonLocalActivities: false,
    },
  });
  const health = await startHealthServer({
    service: 'orchestrator',
    port: config.HOLDFAST_ORCHESTRATOR_HEALTH_PORT,
    logger,
    readiness: () => (worker.isRunning() ? undefined : 'not polling Temporal yet'),
  });
  return {
    stop: async () => {
      await worker.shutdown();
      await health.close();
    },
  };
}

function toWorkflowSource(config: OrchestratorConfig) {
  const codePath = config.HOLDFAST_WORKFLOW_BUNDLE;
  return codePath === undefined ? { workflowsPath } : { workflowBundle: { codePath } };
}
