import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { createJsonFile, readJsonFile } from './json-file.ts';

const secretsSchema = z.object({
  postgresPassword: z.string().min(1),
  natsToken: z.string().min(1),
  internalToken: z.string().min(1),
  apiToken: z.string().min(1),
  secretKey: z.string().min(1),
});

/**
 * Credentials of one embedded stack, generated once. The password and the tokens are hex and safe inside URLs;
 * `secretKey` is 32 random bytes in base64.
 */
export type Secrets = z.infer<typeof secretsSchema>;

const token = (): string => randomBytes(24).toString('hex');

/** Reads the secrets file, creating it (mode 0600) when it is absent. Concurrent callers all get the same secrets. */
export function ensureSecrets(file: string): Secrets {
  const known = readSecrets(file);
  if (known !== null) return known;
  const fresh: Secrets = {
    postgresPassword: token(),
    natsToken: token(),
    internalToken: token(),
    apiToken: token(),
    secretKey: randomBytes(32).toString('base64'),
  };
  return createJsonFile(file, fresh) ? fresh : (readSecrets(file) ?? fresh);
}

/** The secrets, or null when none were generated yet. Throws `stack.state-unreadable` for a damaged file. */
export function readSecrets(file: string): Secrets | null {
  return readJsonFile(file, secretsSchema);
}
