// environment.ts: a service's configuration is one zod object over environment variables, parsed once in main.ts.
import { z } from 'zod';

export type Env = Readonly<Record<string, string | undefined>>;

/** Bad configuration; the message is one sentence for the operator. Exit code 2. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Empty variables count as unset, as is usual for environments.
 * @throws ConfigError that names the variable and the rule it breaks
 */
export function parseEnvironment<T extends z.ZodObject>(schema: T, env: Env): z.infer<T> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const name = issue?.path.join('.') ?? 'configuration';
  const missing = given[name] === undefined;
  throw new ConfigError(
    missing ? `${name} is not set; set it and start again.` : `${name} is not valid: ${issue?.message}.`,
  );
}

const secretName = /(KEY|TOKEN|PASSWORD|SECRET)/;

/** For the log line at start: secrets and passwords in URLs become `***`. */
export function toMasked(config: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => {
      if (value === undefined) return [name, value];
      if (secretName.test(name)) return [name, '***'];
      return [name, typeof value === 'string' ? value.replace(/\/\/[^@/]+@/, '//***@') : value];
    }),
  );
}

/** A TCP port; 0 lets the system choose. */
export const portSchema = z.coerce.number().int().min(0).max(65_535);

/** What every service needs to reach Temporal and to authenticate to its peers. */
export const commonEnvironment = z.object({
  TEMPORAL_ADDRESS: z.string().min(1),
  TEMPORAL_NAMESPACE: z.string().min(1).default('holdfast'),
  NATS_URL: z.string().min(1),
  HOLDFAST_STORE_URL: z.url(),
  HOLDFAST_INTERNAL_TOKEN: z.string().min(16, 'must have at least 16 characters'),
  HOLDFAST_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
});
