import { expect, test } from 'vitest';
import { startHistoryStore } from '../src/index.ts';

const env = {
  DATABASE_URL: 'postgres://user@127.0.0.1:1/holdfast',
  TEMPORAL_ADDRESS: '127.0.0.1:1',
  NATS_URL: 'nats://127.0.0.1:1',
  HOLDFAST_INTERNAL_TOKEN: 'sixteen-characters-or-more',
  HOLDFAST_STORE_PORT: '0',
};

test('a configuration that cannot work is refused with one sentence', async () => {
  const start = (change: Record<string, string>) => startHistoryStore({ ...env, ...change });
  await expect(start({ DATABASE_URL: '' })).rejects.toThrow(
    'DATABASE_URL is not set; set it and start again.',
  );
  await expect(start({ DATABASE_URL: 'mysql://x' })).rejects.toThrow(
    'DATABASE_URL is not valid: must look like postgres://user:password@host:port/database.',
  );
  await expect(start({ HOLDFAST_MIGRATE: 'maybe' })).rejects.toThrow(/^HOLDFAST_MIGRATE is not valid/);
});
