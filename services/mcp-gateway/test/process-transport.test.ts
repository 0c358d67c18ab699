import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ProcessTransport } from '../src/process-transport.ts';

const stubborn = fileURLToPath(new URL('servers/stubborn.mjs', import.meta.url));
const holder = fileURLToPath(new URL('servers/holder.ts', import.meta.url));

/** A process that ended but was not collected yet counts as gone. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
  } catch {
    return false;
  }
}

async function untilGone(pids: readonly number[]): Promise<void> {
  while (pids.some(isRunning)) await delay(5);
}

/** Starts the stubborn server and resolves with the pids of it and of its child. */
async function startStubborn() {
  const transport = new ProcessTransport({
    command: [process.execPath, stubborn],
    env: { PATH: process.env['PATH'] ?? '' },
    onLogLine: () => undefined,
  });
  onTestFinished(() => transport.close());
  const pids: number[] = [];
  const said = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  Object.assign(transport, {
    onmessage: (message: { params: { pid: number } }) => {
      if (pids.push(message.params.pid) === 2) said.resolve();
    },
    onclose: () => closed.resolve(),
  });
  await transport.start();
  await said.promise;
  return { transport, pids, closed: closed.promise };
}

describe('a local server as a process', () => {
  test('is ended with everything it started, also when it ignores the end of its input and SIGTERM', async () => {
    const { transport, pids } = await startStubborn();
    expect([pids[0], pids.map(isRunning)]).toEqual([transport.pid, [true, true]]);
    await transport.close();
    await untilGone(pids);
    expect(transport.endReason).toBe('its process ended (SIGKILL)');
  });

  test('is over when its process is killed, although a child of it holds the pipes', async () => {
    const { transport, pids, closed } = await startStubborn();
    process.kill(pids[0] ?? 0, 'SIGKILL');
    await closed;
    await untilGone(pids);
    expect(transport.endReason).toBe('its process ended (SIGKILL)');
    await expect(transport.send({ jsonrpc: '2.0', method: 'any' })).rejects.toThrow(
      'the process of the server has ended',
    );
  });

  test('does not outlive a gateway that is killed', async () => {
    const gateway = spawn(process.execPath, [holder], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void gateway.kill('SIGKILL'));
    const { value } = (await createInterface({ input: gateway.stdout })[Symbol.asyncIterator]().next()) as {
      value: string;
    };
    const pid = Number(value);
    expect(isRunning(pid)).toBe(true);
    gateway.kill('SIGKILL');
    await once(gateway, 'exit');
    await untilGone([pid]);
  });
});
