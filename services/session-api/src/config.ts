import { commonEnvironment, parseEnvironment, portSchema, type Env } from '@holdfast/config';
import { defaultTuning, type Tuning } from '@holdfast/contracts';
import { z } from 'zod';

const milliseconds = z.coerce.number().int().min(1);
const secret = z.string().min(16, 'must have at least 16 characters');

const schema = commonEnvironment.extend({
  HOLDFAST_API_TOKEN: secret,
  HOLDFAST_SECRET_KEY: secret,
  HOLDFAST_SESSION_API_HOST: z.string().min(1).default('127.0.0.1'),
  HOLDFAST_SESSION_API_PORT: portSchema.default(0),
  HOLDFAST_HEARTBEAT_TIMEOUT_MS: milliseconds.default(defaultTuning.heartbeatTimeoutMs),
  HOLDFAST_MACHINE_WAIT_MS: milliseconds.default(defaultTuning.machineWaitMs),
  HOLDFAST_STEPS_PER_RUN: z.coerce.number().int().min(1).default(defaultTuning.stepsPerRun),
  /** How often inputs are looked for that no engine has taken. */
  HOLDFAST_SESSION_API_REDELIVERY_INTERVAL_MS: milliseconds.default(5_000),
  /** How long a session must be quiet before its inputs are delivered again. */
  HOLDFAST_SESSION_API_REDELIVERY_QUIET_MS: milliseconds.default(10_000),
});

export type SessionApiConfig = z.infer<typeof schema>;

/** @throws ConfigError */
export function readConfig(env: Env): SessionApiConfig {
  return parseEnvironment(schema, env);
}

export function toTuning(config: SessionApiConfig): Tuning {
  return {
    heartbeatTimeoutMs: config.HOLDFAST_HEARTBEAT_TIMEOUT_MS,
    machineWaitMs: config.HOLDFAST_MACHINE_WAIT_MS,
    stepsPerRun: config.HOLDFAST_STEPS_PER_RUN,
  };
}
