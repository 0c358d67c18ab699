import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '@holdfast/failures';
import type { Session } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { sweepClosedSessions } from '../src/closed-sessions.ts';
import { readProcess } from '../src/process-host/process-table.ts';
import { callTool, printed, toNumber } from './calls.ts';
import { openTestMachine, silent, type TestMachine } from './machines.ts';
import { waitForEnd, waitForLine } from './process-host/hosts.ts';
import { testSessionId as sessionId } from './strict-call-log.ts';

/** A command in the background that has written its pid. */
async function start(bench: TestMachine, name: string) {
  const file = join(bench.workspace, name);
  const cmd = `echo $$ > ${file}; exec sleep 300`;
  const { text } = await callTool(bench, 'exec_command', { cmd, yield_time_ms: 250 });
  return { id: toNumber(text), cmd, pid: Number(await waitForLine(file)) };
}

const storeThatSays = (state: 'idle' | 'closed' | 'unknown') => ({
  readSession: () =>
    state === 'unknown'
      ? Promise.reject(new Failure('session.unknown'))
      : Promise.resolve({ sessionId, state } as Session),
});

describe('the background commands of a session', () => {
  test('are listed, and belong to it alone', async () => {
    const bench = openTestMachine();
    const { id, cmd } = await start(bench, 'pid');
    const { terminals } = bench.machine;
    expect(await terminals.answer({ op: 'list', sessionId })).toEqual({
      terminals: [{ id, command: cmd, tty: false, startedAt: expect.any(String), state: 'running' }],
    });
    const stranger = { sessionId: 'another' };
    expect(await terminals.answer({ op: 'list', ...stranger })).toEqual({ terminals: [] });
    expect(await terminals.answer({ op: 'kill', id, ...stranger })).toEqual({ terminals: [] });
    expect(await terminals.answer({ op: 'clean', ...stranger })).toEqual({ terminals: [] });
    expect(await terminals.answer({ op: 'list', sessionId })).toMatchObject({
      terminals: [{ state: 'running' }],
    });
  });

  test('end when a person ends one, and the model reads that', async () => {
    const bench = openTestMachine();
    const { id, pid } = await start(bench, 'pid');
    const other = await start(bench, 'other');
    expect(await bench.machine.terminals.answer({ op: 'kill', sessionId, id })).toMatchObject({
      terminals: [{ id, state: 'killed', exitCode: 143 }],
    });
    expect([readProcess(pid), readProcess(other.pid)?.pid]).toEqual([undefined, other.pid]);
    const { text } = await callTool(bench, 'write_stdin', { session_id: id });
    expect(printed(text)).toBe('command killed with everything it had started, because a person ended it\n');
  });

  test('end all at once, and a repeat ends nothing', async () => {
    const bench = openTestMachine();
    const [one, two] = [await start(bench, 'one'), await start(bench, 'two')];
    const { terminals } = await bench.machine.terminals.answer({ op: 'clean', sessionId });
    expect(new Set(terminals.map(({ id }) => id))).toEqual(new Set([one.id, two.id]));
    expect([readProcess(one.pid), readProcess(two.pid)]).toEqual([undefined, undefined]);
    expect(await bench.machine.terminals.answer({ op: 'clean', sessionId })).toEqual({ terminals: [] });
  });

  test.each(['closed', 'unknown'] as const)('end with a session that the store calls %s', async (state) => {
    const bench = openTestMachine();
    const { pid } = await start(bench, 'pid');
    const { terminals } = bench.machine;
    await sweepClosedSessions({ terminals, store: storeThatSays('idle'), logger: silent });
    expect(readProcess(pid)?.pid).toBe(pid);
    await sweepClosedSessions({ terminals, store: storeThatSays(state), logger: silent });
    await waitForEnd(pid);
    expect([await terminals.owners(), await terminals.answer({ op: 'list', sessionId })]).toEqual([
      [],
      { terminals: [] },
    ]);
  });

  test('are not looked for by starting a process host', async () => {
    const bench = openTestMachine();
    expect(await bench.machine.terminals.owners()).toEqual([]);
    expect(existsSync(join(bench.stateDir, 'process-host.lock'))).toBe(false);
  });
});
