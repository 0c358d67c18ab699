import { readdirSync, readFileSync } from 'node:fs';
import { isTerminal } from '@holdfast/protocol';
import { answer, command, driveSession, expectSoundLog, script, startTestStack } from '@holdfast/testing';
import type { TestStack } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

/** Processes whose command line holds the marker; the marker is unique to a test. */
function processesWith(marker: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(marker);
      } catch {
        return false;
      }
    });
}

describe('an interrupt', () => {
  test('while a command runs ends the turn at once, kills the whole process tree and leaves the session usable', async () => {
    const marker = `61.00${Date.now() % 100_000}`;
    const cmd = `echo started; setsid sleep ${marker} & sleep ${marker}`;
    const session = await driveSession(stack, script(command(cmd), answer('next')), { prompt: 'go' });
    await session.until((event) => event.type === 'tool_call');
    await expect.poll(() => processesWith(`sleep\0${marker}`).length, { timeout: 10_000 }).toBe(2);
    await session.interrupt();
    const events = await session.untilTurnEnds();
    expect(events.at(-1)).toMatchObject({ type: 'status', status: 'cancelled' });
    const result = events.find((event) => event.type === 'tool_result');
    expect(result).toMatchObject({ status: 'aborted' });
    await expect.poll(() => processesWith(`sleep\0${marker}`), { timeout: 5_000 }).toEqual([]);
    await session.prompt('and now?');
    const all = await session.untilTurnEnds(2);
    expectSoundLog(all);
    expect(all.at(-1)).toMatchObject({ type: 'status', status: 'completed' });
  });

  test('while the model streams ends the turn at once and nothing of it follows', async () => {
    const held = { output: [{ text: 'a long answer' }], chunk: { size: 2 }, midGate: 'mid-answer' };
    const session = await driveSession(stack, script(held, answer('fresh')), { prompt: 'go' });
    await stack.model.gate('mid-answer').waiting();
    await session.interrupt();
    const events = await session.untilTurnEnds();
    expect(events.at(-1)).toMatchObject({ type: 'status', status: 'cancelled' });
    await expect.poll(() => stack.model.requests.some((request) => request.outcome === 'left')).toBe(true);
    stack.model.gate('mid-answer').open();
    await session.prompt('again');
    const all = await session.untilTurnEnds(2);
    expectSoundLog(all);
    expect(all.filter(isTerminal)).toHaveLength(2);
  });

  test('gives every call of the cancelled turn exactly one output and says so to the model', async () => {
    const both = [...command('sleep 62').output, ...command('sleep 63').output];
    const session = await driveSession(stack, script({ output: both }, answer('ok')), { prompt: 'go' });
    await session.until((event) => event.type === 'tool_call');
    await session.interrupt();
    await session.prompt('next');
    await session.untilTurnEnds(2);
    const items = (await session.readItems()).map(({ item }) => item);
    const calls = items.filter((item) => item.type === 'function_call').map((item) => item.call_id);
    const outputs = items.filter((item) => item.type === 'function_call_output').map((item) => item.call_id);
    expect(outputs).toEqual(calls);
    expect(JSON.stringify(items)).toContain('<turn_aborted>');
  });

  test('is refused in one sentence when nothing runs', async () => {
    const session = await driveSession(stack, script(answer('done')), { prompt: 'go' });
    await session.untilTurnEnds();
    await expect(session.interrupt()).rejects.toMatchObject({ code: 'session.not-running' });
  });
});
