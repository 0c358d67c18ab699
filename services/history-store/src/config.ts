import { commonEnvironment, parseEnvironment, portSchema, type Env } from '@holdfast/config';
import { z } from 'zod';

const environment = commonEnvironment
  .pick({
    TEMPORAL_ADDRESS: true,
    TEMPORAL_NAMESPACE: true,
    NATS_URL: true,
    HOLDFAST_INTERNAL_TOKEN: true,
    HOLDFAST_LOG_LEVEL: true,
  })
  .extend({
    DATABASE_URL: z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'must look like postgres://user:password@host:port/database'),
    HOLDFAST_STORE_PORT: portSchema,
    /** Loopback unless told otherwise; a pod listens on 0.0.0.0. */
    HOLDFAST_STORE_HOST: z.string().min(1).default('127.0.0.1'),
    HOLDFAST_STORE_CONNECTIONS: z.coerce.number().int().min(1).max(1000).default(10),
    /** `off`: somebody else migrates; this process serves nothing until the schema is new enough. */
    HOLDFAST_MIGRATE: z.enum(['on', 'off']).default('on'),
  });

export type Config = z.infer<typeof environment>;

/** @throws ConfigError */
export function readConfig(env: Env): Config {
  return parseEnvironment(environment, env);
}
