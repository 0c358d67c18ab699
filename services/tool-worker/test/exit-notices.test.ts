import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionLog } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import { describe, expect, test } from 'vitest';
import { ProcessHostClient } from '../src/process-host/client.ts';
import { callTool, toNumber } from './calls.ts';
import { openTestMachine } from './machines.ts';
import { testSessionId as sessionId } from './strict-call-log.ts';

type Bench = ReturnType<typeof openBench>;
type Sent = Parameters<SessionLog['addInput']>[0];

/** A machine whose inputs are kept in a list. */
function openBench(refusal?: Failure) {
  const sent: Sent[] = [];
  const first = Promise.withResolvers<void>();
  const bench = openTestMachine({
    addInput: (request) => {
      sent.push(request);
      first.resolve();
      return refusal ? Promise.reject(refusal) : Promise.resolve({ duplicate: false });
    },
  });
  const gate = join(bench.workspace, 'gate');
  const start = async (more: object) => {
    const cmd = `while [ ! -e ${gate} ]; do sleep 0.02; done; exit 3`;
    const { text } = await callTool(bench, 'exec_command', { cmd, yield_time_ms: 250, ...more });
    return { number: toNumber(text), cmd };
  };
  return { bench, sent, first: first.promise, start, end: () => writeFileSync(gate, '') };
}

/** What the process host keeps of notices, asked by a client of its own. */
async function isWanted({ bench }: Bench): Promise<boolean> {
  const runtimeDir = process.env['XDG_RUNTIME_DIR'];
  const client = new ProcessHostClient({
    stateDir: bench.stateDir,
    env: {},
    ...(runtimeDir ? { runtimeDir } : {}),
  });
  const terminals = await client.terminals();
  await client.close({ stopHost: false });
  return terminals.some(({ notify }) => notify);
}

describe('a command that is to tell its end', () => {
  test('does so once, as a steer that names it', async () => {
    const machine = openBench();
    const { number, cmd } = await machine.start({ notify_on_exit: true });
    machine.end();
    await machine.first;
    await expect.poll(() => isWanted(machine)).toBe(false);
    expect(machine.sent).toEqual([
      {
        sessionId,
        input: {
          inputId: expect.stringMatching(/^exit-[0-9a-f]{32}$/),
          kind: 'steer',
          text: `The background command with session ID ${number} has exited with code 3: ${cmd}\nRead the rest of its output with write_stdin.`,
        },
      },
    ]);
  });

  test('does not when a call has told it', async () => {
    const machine = openBench();
    const { number } = await machine.start({ notify_on_exit: true });
    const polling = callTool(machine.bench, 'write_stdin', { session_id: number });
    machine.end();
    expect((await polling).text).toContain('Process exited with code 3');
    await expect.poll(() => isWanted(machine)).toBe(false);
    expect(machine.sent).toEqual([]);
  });

  test('gives up when its session is closed', async () => {
    const machine = openBench(new Failure('session.closed'));
    await machine.start({ notify_on_exit: true });
    machine.end();
    await machine.first;
    await expect.poll(() => isWanted(machine)).toBe(false);
    expect(machine.sent).toHaveLength(1);
  });

  test('is refused where no session could be told', async () => {
    const { status, text } = await callTool(openTestMachine(), 'exec_command', {
      cmd: 'true',
      notify_on_exit: true,
    });
    expect([status, text]).toEqual([
      'failed',
      'exec_command failed: notify_on_exit needs a session that outlives this process; leave it out and wait with write_stdin',
    ]);
  });
});

test('a command that is not to tell its end does not', async () => {
  const machine = openBench();
  await machine.start({});
  const other = await machine.start({ notify_on_exit: true });
  machine.end();
  await machine.first;
  expect(machine.sent.map(({ input }) => input.text.includes(`session ID ${other.number} `))).toEqual([true]);
});
