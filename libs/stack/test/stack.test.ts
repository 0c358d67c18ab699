import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tryLock } from '@holdfast/kernel-lock';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { addProcess, readStackFile, registerWorker, removeProcess, tailLogs } from '../src/index.ts';
import { nodeProcess } from './fixtures/node-process.ts';
import { isAlive, listProcessesWith, stackOf } from './fixtures/stack-harness.ts';

const api = nodeProcess({
  name: 'session-api',
  roles: ['session-api', 'orchestrator'],
  dependsOn: ['temporal', 'store'],
});
const store = nodeProcess({ name: 'store', dependsOn: ['postgres', 'nats'] });

describe('a stack', () => {
  test('comes up in order, is found again at once, and leaves nothing running when it is stopped', async () => {
    const stack = await stackOf([api, store]);
    expect(await stack.status()).toEqual({ state: 'down', processes: [] });
    const { secrets, ...info } = await stack.up();
    expect(info).toEqual({
      pid: expect.any(Number),
      sessionApiUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      addresses: {
        temporal: `127.0.0.1:${stack.external}`,
        postgres: `postgres://127.0.0.1:${stack.external}/holdfast`,
        nats: `nats://127.0.0.1:${stack.external}`,
        'session-api': info.sessionApiUrl,
        store: expect.stringMatching(/^http:/),
      },
      temporalNamespace: 'default',
      secretsFile: stack.paths.secretsFile,
      started: true,
    });
    expect(stack.progress.map((line) => line.replace(/[\d.]+ s$/, 'N s'))).toEqual([
      'store serves after N s',
      'session-api serves after N s',
    ]);
    expect(statSync(stack.paths.stackFile).mode & 0o777).toBe(0o600);
    expect(await stack.up()).toEqual({ ...info, secrets, started: false });
    const pids = [info.pid, ...stack.pids()];
    expect(pids.map(isAlive)).toEqual([true, true, true]);
    expect(await stack.down()).toEqual({ stopped: true });
    expect(pids.map(isAlive)).toEqual([false, false, false]);
    expect(existsSync(stack.paths.stackFile)).toBe(false);
    expect(await stack.down()).toEqual({ stopped: false });
    const again = await stack.up();
    expect(again.addresses).toEqual(info.addresses);
    expect(again.secrets).toEqual(secrets);
  });

  test('is started once by two callers at the same time', async () => {
    const stack = await stackOf([store]);
    const infos = await Promise.all([stack.up(), stack.up()]);
    expect(infos[0].pid).toBe(infos[1].pid);
    expect(infos.filter(({ started }) => started)).toHaveLength(1);
    expect(stack.pids()).toHaveLength(1);
    // The caller that lost has no supervisor waiting to take over after the stop.
    expect(await stack.down()).toEqual({ stopped: true });
    const lock = tryLock(stack.paths.lockFile);
    expect(lock).not.toBeNull();
    lock?.release();
    expect(listProcessesWith(stack.paths.stateDir)).toEqual([]);
  });

  test('loses its processes with its supervisor, and comes up again at the same addresses', async () => {
    const stack = await stackOf([api, store]);
    const first = await stack.up();
    const pids = stack.pids();
    process.kill(first.pid, 'SIGKILL');
    await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false]), { timeout: 10_000 });
    expect(await stack.status()).toEqual({ state: 'down', processes: [] });
    const second = await stack.up();
    expect(second.pid).not.toBe(first.pid);
    expect(second.addresses).toEqual(first.addresses);
  });

  test('waits for the processes of a killed supervisor, and ends those that stay', async () => {
    const deaf = nodeProcess({
      name: 'deaf',
      parentPipe: false,
      script: `process.on('SIGTERM', () => process.exit(0));
        require('node:http').createServer((q, s) => s.end()).listen(process.env.PORT, '127.0.0.1');`,
    });
    const stack = await stackOf([deaf]);
    const { pid, addresses } = await stack.up();
    const [leftover = 0] = stack.pids();
    process.kill(pid, 'SIGKILL');
    const second = await stack.up();
    expect(isAlive(leftover)).toBe(false);
    expect(second.addresses).toEqual(addresses);
    expect(stack.progress).toContain('waiting for the processes of the last run to end…');
    process.kill(second.pid, 'SIGKILL');
    await vi.waitFor(() => expect(isAlive(second.pid)).toBe(false));
    const last = stack.pids();
    expect(last.map(isAlive)).toEqual([true]);
    expect(await stack.down()).toEqual({ stopped: true });
    expect(last.map(isAlive)).toEqual([false]);
  });

  test('that cannot start says why and leaves nothing running', async () => {
    const broken = nodeProcess({ name: 'broken', script: `console.error('out of luck'); process.exit(1);` });
    const stack = await stackOf([store, broken]);
    await expect(stack.up()).rejects.toMatchObject({
      code: 'stack.start-failed',
      message: `broken does not start (exit code 1); its last line is "out of luck"; see ${stack.paths.logsDir}/broken.log.`,
    });
    expect(stack.pids().map(isAlive)).toEqual([false, false]);
    expect(await stack.status()).toEqual({ state: 'down', processes: [] });
  });

  test('does not take a configured port from another program', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const stack = await stackOf([nodeProcess({ name: 'session-api' })], {
      HOLDFAST_SESSION_API_PORT: String(port),
    });
    await expect(stack.up()).rejects.toMatchObject({
      code: 'stack.port-occupied',
      message: `Port ${port} (HOLDFAST_SESSION_API_PORT) is used by another program: stop that program or set HOLDFAST_SESSION_API_PORT to a free port.`,
    });
  });

  test('whose supervisor program is broken quotes what it said last', async () => {
    const stack = await stackOf([], { STACK_TEST_PLAN: '{' });
    await expect(stack.up()).rejects.toMatchObject({
      code: 'stack.start-failed',
      message: expect.stringMatching(
        /^The supervisor ended while it started \(".+"\); see .+\/supervisor\.log\.$/,
      ),
    });
  });
});

describe('a running stack', () => {
  test('reports one row a role, external servers and workers that were started by hand', async () => {
    const stack = await stackOf([api, store]);
    await stack.up();
    const unregister = await registerWorker(stack.paths, { machine: 'gpu/1', pid: process.pid });
    await registerWorker(stack.paths, { machine: 'gone', pid: 2 ** 22 + 1 });
    const { state, processes } = await stack.status();
    expect(state).toBe('up');
    const [storePid, apiPid] = stack.pids();
    const rssMb = expect.any(Number);
    const external = { process: 'external', pid: null, health: 'ok', rssMb: null, restarts: 0 };
    const own = { health: 'ok', rssMb, restarts: 0 };
    const address = expect.stringMatching(/^http:/);
    expect(processes).toEqual([
      { ...external, role: 'temporal', address: `127.0.0.1:${stack.external}` },
      { ...external, role: 'postgres', address: `postgres://127.0.0.1:${stack.external}/holdfast` },
      { ...external, role: 'nats', address: `nats://127.0.0.1:${stack.external}` },
      { ...own, role: 'store', process: 'store', pid: storePid, address },
      { ...own, role: 'session-api', process: 'session-api', pid: apiPid, address },
      { ...own, role: 'orchestrator', process: 'session-api', pid: apiPid, address: null },
      { ...own, role: 'tool-worker:gpu/1', process: 'by hand', pid: process.pid, address: null },
    ]);
    unregister();
    expect((await stack.status()).processes).toHaveLength(6);
  });

  test('says of a process that hangs that it failed', async () => {
    const stack = await stackOf([store]);
    await stack.up();
    const [pid = 0] = stack.pids();
    process.kill(pid, 'SIGSTOP');
    const { processes } = await stack.status();
    expect(processes.at(-1)).toMatchObject({ role: 'store', pid, health: 'failed' });
    process.kill(pid, 'SIGCONT');
  });

  test('takes another process and gives it up again', async () => {
    const stack = await stackOf([store]);
    const { addresses } = await stack.up();
    const port = Number(new URL(addresses['store'] ?? '').port) + 1;
    await addProcess({ paths: stack.paths, spec: nodeProcess({ name: 'llm-worker', port }) });
    expect(readStackFile(stack.paths.stackFile)?.addresses['llm-worker']).toBe(`127.0.0.1:${port}`);
    const pid = stack.pids().at(-1) ?? 0;
    expect(isAlive(pid)).toBe(true);
    await expect(
      addProcess({ paths: stack.paths, spec: nodeProcess({ name: 'llm-worker', port }) }),
    ).rejects.toThrow('A process named llm-worker exists: remove it or use another name.');
    await removeProcess({ paths: stack.paths, name: 'llm-worker' });
    expect(isAlive(pid)).toBe(false);
    await expect(removeProcess({ paths: stack.paths, name: 'llm-worker' })).rejects.toThrow(
      'No process is named llm-worker; see `holdfast status`.',
    );
    await stack.down();
    await expect(removeProcess({ paths: stack.paths, name: 'store' })).rejects.toThrow(
      'The stack is not up: start it with `holdfast up`.',
    );
  });

  test('shows the logs by role, from their end on and as they grow', async () => {
    const stack = await stackOf([api, store]);
    await stack.up();
    const lines = [];
    for await (const line of tailLogs(stack.paths, { role: 'orchestrator', follow: false })) lines.push(line);
    expect(lines).toEqual([{ process: 'session-api', line: 'listening' }]);
    const file = `${stack.paths.logsDir}/store.log`;
    writeFileSync(file, 'one\ntwo\n');
    const ended = new AbortController();
    const followed: string[] = [];
    for await (const { line } of tailLogs(stack.paths, {
      role: 'store',
      follow: true,
      lines: 1,
      signal: ended.signal,
    })) {
      followed.push(line);
      if (line === 'two') writeFileSync(file, 'three\nfour', { flag: 'a' });
      if (line === 'three') writeFileSync(file, ' and five\n', { flag: 'a' });
      if (line === 'four and five') ended.abort();
    }
    expect(followed).toEqual(['two', 'three', 'four and five']);
  });
});
