import { commonEnvironment, parseEnvironment, portSchema, type Env } from '@holdfast/config';
import { z } from 'zod';

const schema = commonEnvironment.extend({
  /** The key that the session-api seals callers' model keys with; the same value in both services. */
  HOLDFAST_SECRET_KEY: z.string().min(16, 'must have at least 16 characters'),
  HOLDFAST_LLM_WORKER_HEALTH_PORT: portSchema.default(0),
  /** Where models are when a session does not say so itself; without any of the two the scripted model answers. */
  OPENAI_BASE_URL: z.url().optional(),
  OPENAI_API_KEY: z.string().optional(),
  /** What a session means by the model name `default`. */
  HOLDFAST_MODEL: z.string().default('gpt-5.5'),
  /** A stream without any event for this long is given up. At most 5 minutes: Node's HTTP client waits no longer for silence. */
  HOLDFAST_LLM_STREAM_IDLE_MS: z.coerce.number().int().min(1).max(300_000).default(300_000),
  /** How long running model calls may go on after the worker was told to stop. */
  HOLDFAST_LLM_SHUTDOWN_GRACE_MS: z.coerce.number().int().min(0).default(30_000),
});

export type LlmWorkerConfig = z.infer<typeof schema>;

/** @throws ConfigError */
export function readConfig(env: Env): LlmWorkerConfig {
  return parseEnvironment(schema, env);
}
