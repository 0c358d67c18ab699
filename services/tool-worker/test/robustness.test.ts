import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toOutputFolder } from '../src/process-host/process-names.ts';
import { readProcess } from '../src/process-host/process-table.ts';
import { callTool, printed } from './calls.ts';
import { createFolder } from './folders.ts';
import { never, openTestMachine } from './machines.ts';
import { testSessionId } from './strict-call-log.ts';
import { startWorkerProcess } from './worker-process.ts';

const workerLimitMiB = 300;
const hostLimitMiB = 150;

/** The largest resident size so far. */
function toPeakMiB(pid: number): number {
  const kib = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}

/** A worker of its own, which runs the command, and what it and its host took for that. */
async function measure(cmd: string) {
  const worker = startWorkerProcess({ stateDir: createFolder(), workspace: createFolder() });
  const host = Number(printed((await worker.call('1.1.0', 'exec_command', { cmd: 'echo $PPID' })).text));
  const output = await worker.call('1.2.0', 'exec_command', { cmd, yield_time_ms: 30_000 });
  const peaks = { worker: await worker.peakMiB(), host: toPeakMiB(host) };
  await worker.stop();
  return { output, peaks };
}

describe('a command that prints', () => {
  test.each([
    ['100,000 lines', 'seq 1 100000', 588_895, 100_000],
    ['one line of 50 MB', `head -c 50000000 /dev/zero | tr '\\0' x`, 50_000_000, 1],
  ])('%s is told bounded, is kept whole, and takes little memory', async (_, cmd, size, lines) => {
    const { output, peaks } = await measure(cmd);
    expect(output).toMatchObject({ status: 'ok', exitCode: 0, full: { size } });
    expect(printed(output.text)).toContain(`\nTotal output lines: ${lines}\n`);
    expect(output.tokens).toBeLessThan(10_200);
    expect(peaks.worker).toBeLessThan(workerLimitMiB);
    expect(peaks.host).toBeLessThan(hostLimitMiB);
  });

  test('what is no text, and NUL bytes, is told as far as it can be', async () => {
    const bench = openTestMachine();
    const cmd = String.raw`printf 'a\xff\xfeb\xe2\x82'; printf '\0c\n'`;
    const { text, status } = await callTool(bench, 'exec_command', { cmd });
    expect([status, printed(text)]).toEqual(['ok', 'a��b�\0c\n']);
  });
});

describe('a command that', () => {
  test('closes its output and goes on is waited for', async () => {
    const bench = openTestMachine();
    const cmd = 'echo begun; exec >&- 2>&-; sleep 0.3; exit 6';
    const { text, output } = await callTool(bench, 'exec_command', { cmd });
    expect([printed(text), output?.exitCode]).toEqual(['begun\n', 6]);
  });

  test('ignores SIGTERM is killed all the same', async () => {
    const bench = openTestMachine();
    const cmd = `trap '' TERM; echo begun; while :; do sleep 1; done`;
    const { output } = await callTool(bench, 'exec_command', { cmd, timeout_ms: 300 });
    expect(output?.exitCode).toBe(124);
  });

  test('forks 200 children takes all of them with it', async () => {
    const bench = openTestMachine();
    const file = join(bench.workspace, 'pids');
    const cmd = `for i in $(seq 200); do sleep 300 & echo $! >> ${file}; done; kill -9 $$`;
    const { output } = await callTool(bench, 'exec_command', { cmd });
    expect(output?.exitCode).toBe(137);
    const pids = readFileSync(file, 'utf8').trim().split('\n').map(Number);
    expect(pids).toHaveLength(200);
    await bench.machine.close({ limitMs: 2_000 });
    expect(pids.flatMap((pid) => readProcess(pid) ?? [])).toEqual([]);
  });

  test('fills the space it is given is told so by its exit', async () => {
    const bench = openTestMachine();
    const cmd = 'ulimit -f 8; head -c 1000000 /dev/zero > big; echo code $?; stat -c %s big';
    const { text } = await callTool(bench, 'exec_command', { cmd });
    expect(printed(text)).toMatch(/code 153\n8192\n$/);
  });

  test('prints to a disk that takes nothing still ends, and the model is told what is missing', async () => {
    const bench = openTestMachine();
    const input = JSON.stringify({ cmd: 'echo lost; exit 3' });
    const request = bench.store.add({ callId: '7.1.0', tool: 'exec_command', input, cwd: bench.workspace });
    // A file where the folder of its output would be.
    const folder = toOutputFolder(bench.stateDir, `${testSessionId}/7.1.0`);
    mkdirSync(dirname(folder), { recursive: true });
    writeFileSync(folder, '');
    await bench.machine.calls.run(request, never);
    const output = bench.store.outputOf('7.1.0');
    expect(output?.exitCode).toBe(3);
    expect(printed(output?.text)).toMatch(/^the output could not be kept on disk: EEXIST.*\n$/);
  });
});
