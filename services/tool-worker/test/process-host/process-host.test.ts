import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { tryLock } from '@holdfast/kernel-lock';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ProcessHostClient } from '../../src/process-host/client.ts';
import { readProcess } from '../../src/process-host/process-table.ts';
import { toRuntimePaths } from '../../src/process-host/runtime-paths.ts';
import { createFolder } from '../folders.ts';
import { createClient, run, toSpec, waitForEnd, waitForLine } from './hosts.ts';

describe('a process host', () => {
  test('runs a command and tells its exit code, its size and its lines', async () => {
    const { client } = createClient();
    const { outcome, output } = await run(
      client,
      toSpec('a', 'echo one; echo two >&2; printf three; exit 7'),
    );
    expect({ outcome, output }).toEqual({
      outcome: {
        state: 'exited',
        exit: {
          end: 'exited',
          code: 7,
          signal: null,
          bytes: 13,
          lines: 3,
          startedAt: expect.any(Number),
          endedAt: expect.any(Number),
        },
      },
      output: 'one\ntwo\nthree',
    });
  });

  test('keeps stdout and stderr in the order they were written', async () => {
    const { client } = createClient();
    const script = 'for i in $(seq 200); do echo out $i; echo err $i >&2; done';
    const { output } = await run(client, toSpec('a', script));
    const expected = Array.from({ length: 200 }, (_, index) => `out ${index + 1}\nerr ${index + 1}\n`).join(
      '',
    );
    expect(output).toBe(expected);
  });

  test('gives commands a stdout and a stderr that can be opened by name, and a closed stdin', async () => {
    const { client } = createClient();
    const script =
      'echo one > /dev/stdout; echo two > /dev/stderr; echo three | tee /dev/stderr; cat; echo end';
    const { output } = await run(client, toSpec('a', script));
    expect(output.split('\n').toSorted()).toEqual(['', 'end', 'one', 'three', 'three', 'two']);
  });

  test('starts a key once, however often it is asked to', async () => {
    const { client, stateDir } = createClient();
    const file = join(stateDir, 'ran');
    const spec = toSpec('once', `echo ran >> ${file}; sleep 0.2; echo done`);
    const first = run(client, spec);
    const other = createClient(stateDir).client;
    const [one, two] = await Promise.all([first, run(other, spec)]);
    const three = await run(client, spec);
    expect([one.outcome, two.outcome, three.outcome]).toEqual([one.outcome, one.outcome, one.outcome]);
    expect(readFileSync(file, 'utf8')).toBe('ran\n');
  });

  test('says unknown for a key it never saw, and again after the key was forgotten', async () => {
    const { client } = createClient();
    expect(await client.status('a')).toEqual({ state: 'unknown' });
    await run(client, toSpec('a', 'true'));
    expect(await client.list()).toEqual({ a: await client.status('a') });
    await client.forget('a');
    expect([await client.status('a'), await client.list()]).toEqual([{ state: 'unknown' }, {}]);
  });

  test('kills a forgotten command that still runs', async () => {
    const { client, stateDir } = createClient();
    const file = join(stateDir, 'pid');
    const running = run(client, toSpec('a', `echo $$ > ${file}; exec sleep 300`));
    const pid = Number(await waitForLine(file));
    await client.forget('a');
    expect(readProcess(pid)).toBeUndefined();
    expect((await running).outcome).toMatchObject({ state: 'exited', exit: { end: 'killed' } });
  });

  test('reports a command that cannot be spawned', async () => {
    const { client } = createClient();
    const { outcome } = await run(client, toSpec('a', '', { command: '/nowhere/shell' }));
    expect(outcome).toMatchObject({
      state: 'exited',
      exit: { end: 'not-started', detail: 'spawn /nowhere/shell ENOENT' },
    });
  });

  test('ends with the command, not with what it left in the background', async () => {
    const { client, stateDir } = createClient();
    const file = join(stateDir, 'pid');
    const { outcome, output } = await run(client, toSpec('a', `sleep 300 & echo $! > ${file}; echo started`));
    const pid = Number(await waitForLine(file));
    expect(outcome).toMatchObject({ state: 'exited', exit: { end: 'exited', code: 0 } });
    expect(output).toBe('started\n');
    expect(readProcess(pid)).toBeDefined();
    await client.close({ stopHost: true });
    expect(readProcess(pid)).toBeUndefined();
  });

  test('kills a command that runs too long', async () => {
    const { client } = createClient();
    const { outcome, output } = await run(client, toSpec('a', 'echo begun; sleep 300', { timeoutMs: 100 }));
    expect(outcome).toMatchObject({ state: 'exited', exit: { end: 'timed-out', signal: 'SIGTERM' } });
    expect(output).toBe('begun\n');
  });

  test('kills descendants that left the group, the session and their parent, and one that ignores SIGTERM', async () => {
    const { client, stateDir } = createClient();
    const files = ['plain', 'session', 'daemon', 'stubborn'].map((name) => join(stateDir, name));
    const [plain, session, daemon, stubborn] = files;
    const script = `
      sleep 300 & echo $! > ${plain}
      setsid sleep 300 & echo $! > ${session}
      (setsid bash -c 'echo $$ > ${daemon}; exec sleep 300' &)
      bash -c 'trap "" TERM; echo $$ > ${stubborn}; while :; do sleep 1; done' &
      wait`;
    const interrupt = new AbortController();
    const running = run(client, toSpec('a', script), interrupt.signal);
    const pids = (await Promise.all(files.map(waitForLine))).map(Number);
    expect(pids.map((pid) => readProcess(pid)?.pid)).toEqual(pids);
    interrupt.abort();
    expect((await running).outcome).toMatchObject({ state: 'exited', exit: { end: 'killed' } });
    expect(pids.map((pid) => readProcess(pid))).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('keeps a command running while its client dies by kill -9, and lets the next client attach', async () => {
    const { client, stateDir } = createClient();
    const gate = join(stateDir, 'gate');
    const begun = join(stateDir, 'begun');
    const spec = toSpec(
      'a',
      `echo before; echo x > ${begun}; while [ ! -e ${gate} ]; do sleep 0.02; done; echo after`,
    );
    const code = `
      import { ProcessHostClient } from ${JSON.stringify(new URL('../../src/process-host/client.ts', import.meta.url).href)};
      const client = new ProcessHostClient(${JSON.stringify({ stateDir, runtimeDir: stateDir, env: spec.env })});
      await client.run(${JSON.stringify(spec)}, { onOutput() {}, signal: new AbortController().signal });`;
    const worker = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'ignore' });
    await waitForLine(begun);
    worker.kill('SIGKILL');
    await once(worker, 'exit');
    expect((await client.status('a')).state).toBe('running');
    const attached = client.attach('a', { onOutput: () => undefined, signal: new AbortController().signal });
    await run(client, toSpec('opener', `touch ${gate}`));
    expect(await attached).toMatchObject({
      state: 'exited',
      exit: { end: 'exited', code: 0, bytes: 13, lines: 2 },
    });
    expect(readFileSync(join(client.folderOf('a'), 'output.0'), 'utf8')).toBe('before\nafter\n');
  });

  test('after its own kill -9 calls the command lost, has killed it, and never starts it again', async () => {
    const { client, stateDir } = createClient();
    const ran = join(stateDir, 'ran');
    const spec = toSpec('a', `echo ran >> ${ran}; echo $$; exec sleep 300`);
    const printed = Promise.withResolvers<string>();
    const signal = new AbortController().signal;
    const running = client.run(spec, { onOutput: printed.resolve, signal });
    const pid = Number(await printed.promise);
    const host = readProcess(pid)?.parent ?? 0;
    process.kill(host, 'SIGKILL');
    expect(await running).toEqual({ state: 'lost', startedAt: expect.any(Number) });
    expect(readProcess(pid)).toBeUndefined();
    expect((await run(client, spec)).outcome).toMatchObject({ state: 'lost' });
    expect(readFileSync(ran, 'utf8')).toBe('ran\n');
    expect(readFileSync(join(client.folderOf('a'), 'output.0'), 'utf8')).toBe(`${pid}\n`);
  });

  test('is one for all clients of a machine, behind a socket of its owner', async () => {
    const { client, stateDir } = createClient();
    const other = createClient(stateDir).client;
    await Promise.all([client.ready(), other.ready()]);
    await run(client, toSpec('a', 'true'));
    expect((await other.status('a')).state).toBe('exited');
    const { socketPath } = toRuntimePaths({ stateDir, runtimeDir: stateDir });
    expect(statSync(socketPath).mode & 0o777).toBe(0o600);
    expect(Buffer.byteLength(socketPath)).toBeLessThanOrEqual(107);
  });

  test('is stopped also by a client that has never asked it anything', async () => {
    const { client, stateDir } = createClient();
    const pidFile = join(stateDir, 'pid');
    const running = run(client, toSpec('a', `echo $$ > ${pidFile}; exec sleep 300`));
    const pid = Number(await waitForLine(pidFile));
    await createClient(stateDir).client.close({ stopHost: true });
    expect(readProcess(pid)).toBeUndefined();
    expect((await running).outcome).toMatchObject({ state: 'exited', exit: { end: 'stopped' } });
  });

  test('leaves no socket, no pipes and no process behind when it is stopped', async () => {
    const { client, stateDir } = createClient();
    const pidFile = join(stateDir, 'pid');
    const running = run(client, toSpec('a', `echo $$ > ${pidFile}; exec sleep 300`));
    const pid = Number(await waitForLine(pidFile));
    const host = readProcess(pid)?.parent ?? 0;
    await Promise.all([client.close({ stopHost: true }), running]);
    await waitForEnd(host);
    expect((await running).outcome).toMatchObject({ state: 'exited', exit: { end: 'stopped' } });
    expect(readProcess(pid)).toBeUndefined();
    const { socketPath } = toRuntimePaths({ stateDir, runtimeDir: stateDir });
    expect(existsSync(socketPath)).toBe(false);
    expect(readdirSync(join(socketPath, '..'))).toEqual([]);
  });
});

describe('the life of a process host', () => {
  const hostMain = new URL('../../src/process-host/main.ts', import.meta.url).pathname;

  async function startHost(given: {
    orphanLimitMs: number;
    idleLimitMs: number;
    supervisor?: { pid: number; startTime: string };
    flags?: string[];
  }) {
    const stateDir = createFolder();
    const argument = JSON.stringify({
      stateDir,
      ...toRuntimePaths({ stateDir, runtimeDir: stateDir }),
      ...given,
    });
    const child = spawn(process.execPath, [...(given.flags ?? []), hostMain, argument], {
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    await once(child.stdio[3] ?? child, 'data');
    return { child, exited, stateDir };
  }

  test('ends by itself when no tool worker comes', async () => {
    const { exited } = await startHost({ orphanLimitMs: 60_000, idleLimitMs: 50 });
    expect(await exited).toEqual([0, null]);
  });

  test('waits longer for a tool worker while a command runs, and then kills the command', async () => {
    const { exited, stateDir } = await startHost({ orphanLimitMs: 400, idleLimitMs: 60_000 });
    const file = join(stateDir, 'pid');
    const client = new ProcessHostClient({ stateDir, runtimeDir: stateDir, env: {} });
    const running = run(client, toSpec('a', `echo $$ > ${file}; exec sleep 300`)).catch(() => undefined);
    const pid = Number(await waitForLine(file));
    await client.close({ stopHost: false });
    expect(await exited).toEqual([0, null]);
    expect(readProcess(pid)).toBeUndefined();
    await running;
  });

  test('keeps its machine to itself as long as it lives, whatever is collected', async () => {
    const collect = 'data:text/javascript,setInterval(globalThis.gc, 5).unref()';
    const { stateDir } = await startHost({
      orphanLimitMs: 60_000,
      idleLimitMs: 60_000,
      flags: ['--disable-warning=ExperimentalWarning', '--expose-gc', '--import', collect],
    });
    const { client } = createClient(stateDir);
    expect((await run(client, toSpec('a', 'sleep 0.2; echo collected'))).output).toBe('collected\n');
    expect(tryLock(join(stateDir, 'process-host.lock'))).toBeUndefined();
  });

  test('ends with its supervisor', async () => {
    const supervisor = spawn('sleep', ['300']);
    const pid = supervisor.pid ?? 0;
    const { child, exited } = await startHost({
      orphanLimitMs: 60_000,
      idleLimitMs: 60_000,
      supervisor: { pid, startTime: readProcess(pid)?.startTime ?? '' },
    });
    supervisor.kill('SIGKILL');
    await once(supervisor, 'exit');
    child.stdin?.end();
    expect(await exited).toEqual([0, null]);
  });

  test('stays when only the pipe of its tool worker was closed', async () => {
    const own = readProcess(process.pid);
    const { child, exited, stateDir } = await startHost({
      orphanLimitMs: 60_000,
      idleLimitMs: 60_000,
      supervisor: { pid: process.pid, startTime: own?.startTime ?? '' },
    });
    child.stdin?.end();
    const { client } = createClient(stateDir);
    expect((await run(client, toSpec('a', 'sleep 0.1; echo still here'))).output).toBe('still here\n');
    await client.close({ stopHost: true });
    expect(await exited).toEqual([0, null]);
  });
});
