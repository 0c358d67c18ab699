import { answer, command, driveSession, script, startTestStack } from '@holdfast/testing';
import type { TestStack } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listStateProcesses } from './state-processes.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

/** A session whose turn has ended while its command goes on; `seconds` tells the command apart. */
async function leaveRunning(seconds: string) {
  const reply = command(`exec sleep ${seconds}`, { yield_time_ms: 250 });
  const session = await driveSession(stack, script(reply, answer('it runs')), { prompt: 'go' });
  const events = await session.untilTurnEnds();
  const result = events.find((event) => event.type === 'tool_result');
  const id = /session ID (\d+)/.exec(result?.text ?? '')?.[1] ?? '';
  return { session, id, marker: `sleep\0${seconds}` };
}

const lines = (text: string) => text.trimEnd().split('\n');

describe('background commands', () => {
  test('are shown by ps, and ended by kill and by clean, of their session only', async () => {
    const one = await leaveRunning(`701.${process.pid}`);
    const other = await leaveRunning(`702.${process.pid}`);
    const { sessionId } = one.session;
    const shown = await stack.holdfast(['ps', sessionId]);
    expect(lines(shown.stdout)).toEqual([
      expect.stringMatching(/^ID +STATE +SINCE +COMMAND *$/),
      expect.stringMatching(new RegExp(String.raw`^${one.id} +running .* exec sleep 701\.`)),
    ]);
    expect((await stack.holdfast(['kill', sessionId, other.id])).code).toBe(2);
    expect(await stack.holdfast(['kill', sessionId, one.id])).toMatchObject({ code: 0, stdout: '' });
    expect(listStateProcesses(one.marker)).toEqual([]);
    expect(listStateProcesses(other.marker)).toHaveLength(1);
    expect((await stack.holdfast(['clean', sessionId])).stderr).toBe(
      'Nothing runs in the background of this session.\n',
    );
    expect((await stack.holdfast(['clean', other.session.sessionId])).stderr).toContain(
      `Ended ${other.id}: `,
    );
    expect(listStateProcesses(other.marker)).toEqual([]);
  });

  test('end when their session is closed', async () => {
    const { session, marker } = await leaveRunning(`703.${process.pid}`);
    expect(listStateProcesses(marker)).toHaveLength(1);
    await stack.client.open(session.sessionId).close();
    await expect.poll(() => listStateProcesses(marker), { timeout: 10_000 }).toEqual([]);
  });

  test('of a machine that is offline cannot be shown, and the exit code says so', async () => {
    const workspace = stack.folder();
    const worker = stack.start(['worker', 'start', '--name', 'away', '--workspace', workspace]);
    await expect
      .poll(async () => (await stack.client.listMachines()).find(({ name }) => name === 'away')?.online, {
        timeout: 20_000,
      })
      .toBe(true);
    const session = await driveSession(stack, script(answer('ok')), {
      machine: 'away',
      cwd: workspace,
      prompt: 'go',
    });
    await session.untilTurnEnds();
    worker.kill('SIGTERM');
    await worker.result;
    expect(await stack.holdfast(['ps', session.sessionId])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('is offline'),
    });
  });
});

test('a command that is to tell its end wakes its session once', async () => {
  const reply = command('sleep 2; exit 3', { yield_time_ms: 250, notify_on_exit: true });
  const session = await driveSession(stack, script(reply, answer('waiting'), answer('I see')), {
    prompt: 'go',
  });
  const events = await session.untilTurnEnds(2);
  const starts = events.filter((event) => event.type === 'status' && event.status === 'starting');
  expect(JSON.stringify(starts)).toContain('has exited with code 3: sleep 2; exit 3');
});
