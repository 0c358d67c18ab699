import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ProcessHostClient } from '../src/process-host/client.ts';
import { readProcess } from '../src/process-host/process-table.ts';
import { printed, toNumber } from './calls.ts';
import { createFolder } from './folders.ts';
import { waitForEnd, waitForLine } from './process-host/hosts.ts';
import { startWorkerProcess } from './worker-process.ts';

const path = process.env['PATH'] ?? '/usr/bin:/bin';

/** A worker with a shell on a terminal that appends what is typed to a file. */
async function startShell() {
  const folders = { stateDir: createFolder(), workspace: createFolder() };
  const client = new ProcessHostClient({
    stateDir: folders.stateDir,
    runtimeDir: folders.stateDir,
    env: { PATH: path },
  });
  onTestFinished(() => client.close({ stopHost: true }));
  const worker = startWorkerProcess(folders);
  const [pidFile, typed] = [join(folders.workspace, 'pid'), join(folders.workspace, 'typed')];
  const cmd = `echo $$ > ${pidFile}; while read line; do echo "$line" >> ${typed}; echo "got $line"; done`;
  const { text } = await worker.call('1.1.0', 'exec_command', { cmd, tty: true, yield_time_ms: 250 });
  const pid = Number(await waitForLine(pidFile));
  return { folders, worker, typed, pid, number: toNumber(text) };
}

const killHost = async (pid: number) => {
  const host = readProcess(pid)?.parent ?? 0;
  process.kill(host, 'SIGKILL');
  await waitForEnd(host);
};

describe('a terminal that was open', () => {
  test('is the same one after the worker was killed', async () => {
    const { folders, worker, number, pid, typed } = await startShell();
    await worker.kill();
    const next = startWorkerProcess(folders);
    const answer = await next.call('1.2.0', 'write_stdin', { session_id: number, chars: 'after\n' });
    expect(printed(answer.text)).toBe('after\r\ngot after\r\n');
    expect(readProcess(pid)?.pid).toBe(pid);
    expect(readFileSync(typed, 'utf8')).toBe('after\n');
  });

  test('is gone after its host was killed, and the model is told what is known and what is not', async () => {
    const { worker, number, pid, typed } = await startShell();
    await worker.call('1.2.0', 'write_stdin', { session_id: number, chars: 'before\n' });
    await killHost(pid);
    const { text, status } = await worker.call('1.3.0', 'write_stdin', { session_id: number, chars: 'x\n' });
    expect(status).toBe('failed');
    expect(text).toContain(
      `Process with session ID ${number} is gone: the process that watched over it died and the command was ended with it; how far it had come, and whether it took the input, was not recorded`,
    );
    expect(readProcess(pid)).toBeUndefined();
    expect(readFileSync(typed, 'utf8')).toBe('before\n');
    const again = await worker.call('1.4.0', 'exec_command', { cmd: 'echo next' });
    expect(printed(again.text)).toBe('next\n');
  });

  test('is gone after both were killed, and its number answers no more once that was told', async () => {
    const { folders, worker, number, pid } = await startShell();
    await worker.kill();
    await killHost(pid);
    const next = startWorkerProcess(folders);
    const { text } = await next.call('1.2.0', 'write_stdin', { session_id: number });
    expect(text).toContain(`Process with session ID ${number} is gone`);
    expect(readProcess(pid)).toBeUndefined();
    const later = await next.call('1.3.0', 'write_stdin', { session_id: number });
    expect(later.text).toMatch(/is gone|Unknown process id/);
  });
});
