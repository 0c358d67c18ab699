import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createFolder } from './folders.ts';
import { openTestMachine } from './machines.ts';

const main = new URL('../src/main.ts', import.meta.url).pathname;

const toEnvironment = (given: Record<string, string>) => ({
  PATH: process.env['PATH'] ?? '',
  TEMPORAL_ADDRESS: '127.0.0.1:1',
  NATS_URL: 'nats://127.0.0.1:1',
  HOLDFAST_STORE_URL: 'http://127.0.0.1:1',
  HOLDFAST_INTERNAL_TOKEN: 'token-of-16-chars',
  HOLDFAST_MACHINE_NAME: 'test',
  HOLDFAST_LOG_LEVEL: 'silent',
  ...given,
});

function start(given: Record<string, string>) {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
    env: toEnvironment(given),
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, exited: once(child, 'exit'), complaint: text(child.stderr) };
}

describe('the tool worker as a process', () => {
  test('says in one sentence what is wrong with its configuration', async () => {
    const { exited, complaint } = start({ HOLDFAST_MACHINE_STATE_DIR: 'state' });
    expect([(await exited)[0], await complaint]).toEqual([
      2,
      'tool-worker: HOLDFAST_MACHINE_STATE_DIR is not valid: must be an absolute path.\n',
    ]);
  });

  test('refuses to be the second one of a machine', async () => {
    const { stateDir, workspace } = openTestMachine();
    const { exited, complaint } = start({
      HOLDFAST_MACHINE_STATE_DIR: stateDir,
      HOLDFAST_WORKSPACE: workspace,
    });
    expect([(await exited)[0], await complaint]).toEqual([
      1,
      'tool-worker: Another tool worker already serves this machine; stop it first or start this one under another --name. (test)\n',
    ]);
  });

  test('comes up while everything else is away, registers when the store is back, and ends with its supervisor', async () => {
    const folder = createFolder();
    const asked = Promise.withResolvers<unknown>();
    const store = createServer((request, response) => {
      asked.resolve(request.url);
      response.setHeader('content-type', 'application/json').end('{"leaseMs":15000}');
    });
    const address = await listen(store);
    store.close();
    const { child, exited } = start({
      HOLDFAST_STORE_URL: `http://127.0.0.1:${address.port}`,
      HOLDFAST_MACHINE_STATE_DIR: join(folder, 'state'),
      HOLDFAST_WORKSPACE: folder,
      HOLDFAST_PARENT_PIPE: '1',
    });
    store.listen(address.port, '127.0.0.1');
    onTestFinished(() => void store.close());
    expect(await asked.promise).toBe('/v1/registerMachine');
    child.stdin.end();
    expect(await exited).toEqual([0, null]);
  });
});

async function listen(server: ReturnType<typeof createServer>): Promise<AddressInfo> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address() as AddressInfo;
}
