import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ensureSecrets, readSecrets } from '../src/secrets.ts';
import { scratchFolder } from './fixtures/scratch.ts';

describe('the secrets', () => {
  test('are generated once and kept for their owner only', () => {
    const file = join(scratchFolder(), 'secrets.json');
    expect(readSecrets(file)).toBeNull();
    const secrets = ensureSecrets(file);
    expect(secrets).toEqual({
      postgresPassword: expect.stringMatching(/^[0-9a-f]{48}$/),
      natsToken: expect.stringMatching(/^[0-9a-f]{48}$/),
      internalToken: expect.stringMatching(/^[0-9a-f]{48}$/),
      apiToken: expect.stringMatching(/^[0-9a-f]{48}$/),
      secretKey: expect.any(String),
    });
    expect(Buffer.from(secrets.secretKey, 'base64')).toHaveLength(32);
    expect(new Set(Object.values(secrets)).size).toBe(5);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(ensureSecrets(file)).toEqual(secrets);
  });

  test('are never replaced when the file is damaged', () => {
    const file = join(scratchFolder(), 'secrets.json');
    writeFileSync(file, '{"postgresPassword":');
    expect(() => ensureSecrets(file)).toThrow(
      `${file} cannot be read (its content is damaged): restore it, or delete it if you can do without what it holds.`,
    );
  });
});
