import { existsSync, mkdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ProcessSpec } from '../src/index.ts';
import { openPortBook } from '../src/ports.ts';
import { isSameProcessAlive, readStartTime } from '../src/process-identity.ts';
import { SupervisedProcess, toRestartDelayMs } from '../src/supervisor/supervised-process.ts';
import { nodeProcess } from './fixtures/node-process.ts';
import { scratchFolder } from './fixtures/scratch.ts';

async function supervise(changes: Partial<ProcessSpec> & { script?: string } = {}, startTimeoutMs = 30_000) {
  const folder = scratchFolder();
  const logFile = join(folder, 'probe.log');
  const port = await openPortBook({ file: join(folder, 'ports.json'), onNotice: () => undefined }).choose(
    'probe',
  );
  const pids: number[] = [];
  const deaths: string[] = [];
  const supervised = new SupervisedProcess({
    spec: nodeProcess({ name: 'probe', port, ...changes }),
    logFile,
    onSpawn: (pid) => void pids.push(pid),
    onDeath: (reason) => void deaths.push(reason),
    startTimeoutMs,
  });
  onTestFinished(() => supervised.stop());
  return { supervised, pids, deaths, logFile, folder };
}

const isAlive = (pid: number): boolean => readStartTime(pid) !== null;

describe('a supervised process', () => {
  test('serves, is started again after kill -9 and is gone after stop', async () => {
    const { supervised, pids, deaths } = await supervise();
    expect(supervised.health).toBe('starting');
    await supervised.start();
    expect(supervised.health).toBe('ok');
    const [first = 0] = pids;
    expect(supervised.pid).toBe(first);
    process.kill(first, 'SIGKILL');
    await vi.waitFor(() => expect(supervised).toMatchObject({ health: 'ok', restarts: 1 }), {
      timeout: 10_000,
    });
    expect(deaths).toEqual(['signal SIGKILL']);
    expect(isAlive(first)).toBe(false);
    await supervised.stop();
    expect(supervised).toMatchObject({ health: 'failed', pid: null });
    expect(pids.map(isAlive)).toEqual([false, false]);
  });

  test('writes its output to its log, after what is there', async () => {
    const { supervised, logFile } = await supervise();
    writeFileSync(logFile, 'earlier\n');
    await supervised.start();
    await supervised.stop();
    expect(readFileSync(logFile, 'utf8')).toBe('earlier\nlistening\n');
  });

  test('begins a new log when the old one has grown over 20 MB', async () => {
    const { supervised, logFile } = await supervise();
    writeFileSync(logFile, '');
    truncateSync(logFile, 20 * 1024 * 1024 + 1);
    await supervised.start();
    await supervised.stop();
    expect(readFileSync(logFile, 'utf8')).toBe('listening\n');
    expect(existsSync(`${logFile}.1`)).toBe(true);
  });

  test('is killed when it ignores the stop signal', async () => {
    const script = `process.on('SIGTERM', () => {});
      require('node:http').createServer((q, s) => s.end()).listen(process.env.PORT, '127.0.0.1');`;
    const { supervised, pids } = await supervise({ script, stopTimeoutMs: 100 });
    await supervised.start();
    await supervised.stop();
    expect(pids.map(isAlive)).toEqual([false]);
  });

  test('that ends three times before it serves is a failed start that quotes its last line', async () => {
    const { supervised, logFile, deaths } = await supervise({
      script: `console.error('no configuration'); process.exit(3);`,
    });
    await expect(supervised.start()).rejects.toMatchObject({
      code: 'stack.start-failed',
      message: `probe does not start (exit code 3); its last line is "no configuration"; see ${logFile}.`,
    });
    expect(deaths).toEqual(['exit code 3', 'exit code 3', 'exit code 3']);
  });

  test('that never serves is a failed start', async () => {
    const { supervised, logFile } = await supervise({ script: 'setInterval(() => {}, 1000)' }, 200);
    await expect(supervised.start()).rejects.toMatchObject({
      code: 'stack.start-failed',
      message: `probe did not serve within 0.2 s; see ${logFile}.`,
    });
  });

  test('that takes its time to prepare has the whole limit for its start', async () => {
    const limitMs = 100;
    const { supervised } = await supervise(
      { prepare: () => delay(2 * limitMs), readiness: { kind: 'probe', probe: () => Promise.resolve(true) } },
      limitMs,
    );
    await supervised.start();
    expect(supervised.health).toBe('ok');
  });

  test('whose program does not exist is a failed start', async () => {
    const { supervised, logFile } = await supervise({ command: '/nonexistent/program' });
    await expect(supervised.start()).rejects.toMatchObject({
      code: 'stack.start-failed',
      message: `probe does not start (ENOENT); see ${logFile}.`,
    });
  });

  test('is prepared before each start', async () => {
    const folder = scratchFolder();
    const prepared = join(folder, 'prepared');
    const { supervised, pids } = await supervise({
      cwd: prepared,
      async prepare() {
        mkdirSync(prepared);
      },
    });
    await supervised.start();
    renameSync(prepared, join(folder, 'elsewhere'));
    process.kill(pids[0] ?? 0, 'SIGKILL');
    await vi.waitFor(() => expect(supervised).toMatchObject({ health: 'ok', restarts: 1 }), {
      timeout: 10_000,
    });
    expect(existsSync(prepared)).toBe(true);
  });

  test('is told of the pipe and sees it end only with its parent', async () => {
    const script = `console.log(process.env.HOLDFAST_PARENT_PIPE);
      process.stdin.resume().on('end', () => console.log('end'));
      require('node:http').createServer((q, s) => s.end()).listen(process.env.PORT, '127.0.0.1');`;
    const { supervised, logFile } = await supervise({ script });
    await supervised.start();
    await supervised.stop();
    expect(readFileSync(logFile, 'utf8')).toBe('1\n');
  });
});

describe('the delay before a restart', () => {
  test('is nothing at first, then doubles from 0.2 s to 5 s', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 60].map(toRestartDelayMs)).toEqual([
      0, 200, 400, 800, 1600, 3200, 5000, 5000,
    ]);
  });
});

describe('the identity of a process', () => {
  test('is its pid with its start time', () => {
    const startTime = readStartTime(process.pid) ?? '';
    expect(isSameProcessAlive({ pid: process.pid, startTime })).toBe(true);
    expect(isSameProcessAlive({ pid: process.pid, startTime: '1' })).toBe(false);
    expect(readStartTime(2 ** 22 + 1)).toBeNull();
  });
});
