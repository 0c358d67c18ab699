import { expect, test } from 'vitest';
import { createMemoryStore } from '../src/index.ts';

test('what goes into and comes out of the memory store cannot be changed from outside', async () => {
  const store = createMemoryStore({ onEvents: () => undefined });
  const catalog = { digest: 'a'.repeat(64), tools: [] };
  const capabilities = { platform: 'linux', arch: 'x64', hostname: 'h', workspace: '/w', protocol: 1 };
  await store.registerMachine({
    machineId: 'm',
    kind: 'machine',
    name: 'm',
    bootId: 'b',
    catalog,
    capabilities,
  });
  const settings = { cwd: '/before', machineId: 'm', model: { name: 'm' }, approvalPolicy: 'never' as const };
  const created = await store.createSession({ sessionId: 's', title: 't', settings, context: [] });
  settings.cwd = '/changed';
  created.settings.cwd = '/changed';
  const bytes = new Uint8Array([1, 2]);
  const { digest } = await store.putBlob({ bytes, mediaType: 'text/plain' });
  bytes[0] = 9;
  expect((await store.readSession({ sessionId: 's' })).settings.cwd).toBe('/before');
  expect([...(await store.readBlob({ digest })).bytes]).toEqual([1, 2]);
});
