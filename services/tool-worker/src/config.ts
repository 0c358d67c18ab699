import { isAbsolute } from 'node:path';
import { commonEnvironment, parseEnvironment, portSchema, type Env } from '@holdfast/config';
import { z } from 'zod';

const folder = z.string().refine(isAbsolute, 'must be an absolute path');

const schema = commonEnvironment.extend({
  /** What people call this machine. */
  HOLDFAST_MACHINE_NAME: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and dashes, at most 63'),
  /** Identity, journal and running commands; survives restarts, belongs to one machine. */
  HOLDFAST_MACHINE_STATE_DIR: folder,
  HOLDFAST_WORKSPACE: folder,
  HOLDFAST_TOOL_WORKER_HEALTH_PORT: portSchema.default(0),
  /** `1`: whoever started this process holds its stdin open as long as it lives. */
  HOLDFAST_PARENT_PIPE: z.string().optional(),
});

export type ToolWorkerConfig = z.infer<typeof schema>;

/** @throws ConfigError */
export function readConfig(env: Env): ToolWorkerConfig {
  return parseEnvironment(schema, env);
}
