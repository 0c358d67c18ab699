import { commonEnvironment, parseEnvironment, portSchema, type Env } from '@holdfast/config';
import { z } from 'zod';

const schema = commonEnvironment.extend({
  HOLDFAST_MCP_GATEWAY_HEALTH_PORT: portSchema.default(0),
  /** Path of the JSON file that names the MCP servers; without a file there are none. */
  HOLDFAST_MCP_CONFIG: z.string().optional(),
  /** Gateways of one name are one group: configured alike, one of them publishes the catalog, all of them serve calls. */
  HOLDFAST_GATEWAY_NAME: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,54}$/, 'must be lower-case letters, digits and dashes, at most 55')
    .default('mcp'),
});

export type GatewayConfig = z.infer<typeof schema>;

/** @throws ConfigError */
export function readConfig(env: Env): GatewayConfig {
  return parseEnvironment(schema, env);
}
