import { commonEnvironment, parseEnvironment, portSchema, type Env } from '@holdfast/config';
import { z } from 'zod';

const schema = commonEnvironment
  .pick({ TEMPORAL_ADDRESS: true, TEMPORAL_NAMESPACE: true, HOLDFAST_LOG_LEVEL: true })
  .extend({
    HOLDFAST_ORCHESTRATOR_HEALTH_PORT: portSchema.default(0),
    /** A bundle made by `bundleWorkflows`; without one the workflows are bundled at start, which takes 1–2 s. */
    HOLDFAST_WORKFLOW_BUNDLE: z.string().optional(),
    /** Sessions kept in memory; a session that is not is replayed from its history. 0 replays every task. */
    HOLDFAST_WORKFLOW_CACHE_SIZE: z.coerce.number().int().min(0).default(300),
  });

export type OrchestratorConfig = z.infer<typeof schema>;

/** @throws ConfigError */
export function readConfig(env: Env): OrchestratorConfig {
  return parseEnvironment(schema, env);
}
