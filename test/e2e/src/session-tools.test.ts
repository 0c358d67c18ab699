import type { Reply } from '@holdfast/model-script';
import type { SessionEvent } from '@holdfast/protocol';
import { answer, driveSession, expectSoundLog, script, startTestStack, toLine } from '@holdfast/testing';
import type { DrivenSession, TestStack } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

const call = (name: string, args: Record<string, unknown>): Reply => ({
  output: [{ call: { name, arguments: args } }],
});
const toQuestion = (id: string) => ({
  id,
  header: id,
  question: `Which ${id}?`,
  options: [
    { label: 'Small', description: 'fits anywhere' },
    { label: 'Large', description: 'holds more' },
  ],
});
const isAsked = (event: SessionEvent) => event.type === 'approval' && event.status === 'requested';
const isSleeping = (event: SessionEvent) =>
  event.type === 'status' && event.status === 'waiting' && event.reason === 'sleep';

async function readLastOutput(session: DrivenSession): Promise<string | undefined> {
  const items = (await session.readItems()).map(({ item }) => item);
  return items.findLast((item) => item.type === 'function_call_output')?.output;
}

async function restartEverything(): Promise<void> {
  expect((await stack.holdfast(['down'])).code).toBe(0);
  expect((await stack.holdfast(['up'])).code).toBe(0);
}

describe('a plan', () => {
  test('is an event for everybody who watches, and a to-do list for `exec --json`', async () => {
    const plan = [
      { step: 'look', status: 'completed' },
      { step: 'act', status: 'in_progress' },
    ];
    const played = script(call('update_plan', { plan }), answer('planned'));
    const { code, stdout } = await stack.holdfast(['exec', '--json', '-C', stack.folder(), 'plan it'], {
      env: stack.play('planned', played),
    });
    expect(code).toBe(0);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; item?: { type: string } });
    const lists = lines.filter(({ item }) => item?.type === 'todo_list');
    expect(lists.map(({ type }) => type)).toEqual(['item.started', 'item.completed']);
    expect(lists[0]).toMatchObject({
      item: {
        items: [
          { text: 'look', completed: true },
          { text: 'act', completed: false },
        ],
      },
    });
  });
});

describe('a question', () => {
  test('is answered from another terminal after everything was restarted', async () => {
    const questions = [toQuestion('size'), toQuestion('place')];
    const session = await driveSession(
      stack,
      script(call('request_user_input', { questions }), answer('ok')),
      {
        prompt: 'ask me',
      },
    );
    const asked = (await session.until(isAsked)).at(-1);
    if (asked?.type !== 'approval') throw new Error('nobody was asked');
    await restartEverything();
    const { sessionId } = session;
    const say = (...answers: string[]) => stack.holdfast(['answer', sessionId, asked.approvalId, ...answers]);
    const shown = await stack.holdfast(['events', sessionId]);
    expect(shown.stdout).toContain(`requested ${asked.approvalId}`);
    const half = await say('size=2');
    expect(half.code).not.toBe(0);
    expect(half.stderr).toContain('the question place has no answer');
    expect(await say('size=2', 'place=under the desk')).toMatchObject({ code: 0 });
    const events = await session.untilTurnEnds();
    expectSoundLog(events);
    expect(events.at(-1)).toMatchObject({ status: 'completed' });
    expect(JSON.parse((await readLastOutput(session)) ?? '')).toEqual({
      answers: { size: { answers: ['Large'] }, place: { answers: ['under the desk'] } },
    });
    expect((await say('size=2', 'place=under the desk')).code).toBe(0);
    const late = await say('size=1', 'place=here');
    expect(late.code).not.toBe(0);
    expect(late.stderr).toContain('This approval was answered already.');
    expect(events.filter(isAsked)).toHaveLength(1);
  });

  test('whose turn was interrupted takes no answer any more, in one sentence', async () => {
    const questions = [toQuestion('size')];
    const session = await driveSession(stack, script(call('request_user_input', { questions })), {
      prompt: 'ask me',
    });
    const asked = (await session.until(isAsked)).at(-1);
    if (asked?.type !== 'approval') throw new Error('nobody was asked');
    await session.interrupt();
    await session.untilTurnEnds();
    const { code, stderr } = await stack.holdfast(['answer', session.sessionId, asked.approvalId, '1']);
    expect(code).not.toBe(0);
    expect(stderr).toContain('There is no such open approval in this session.');
  });
});

describe('a sleep', () => {
  test('is ended by a steer, and the model reads both', async () => {
    const session = await driveSession(
      stack,
      script(call('sleep', { duration_ms: 3_600_000 }), answer('awake')),
      { prompt: 'wait' },
    );
    await session.until(isSleeping);
    expect(await session.read()).toMatchObject({ state: 'waiting' });
    await session.steer({ inputId: crypto.randomUUID(), text: 'wake up' });
    const events = await session.untilTurnEnds();
    expectSoundLog(events);
    expect(events.map(toLine)).toEqual([
      'status starting',
      'step 1 started',
      'usage 1',
      'tool_call sleep',
      'status waiting',
      'tool_result sleep ok',
      'step 1 completed',
      'step 2 started',
      'message_injected wake up',
      'text awake',
      'usage 2',
      'step 2 completed',
      'status completed',
    ]);
    expect(await readLastOutput(session)).toMatch(
      /^Slept for \d+\.\d seconds, until new input came; it follows\.$/,
    );
  });

  test('that was over while everything was down goes on as soon as it is up again', async () => {
    const session = await driveSession(
      stack,
      script(call('sleep', { duration_ms: 1_000 }), answer('awake')),
      { prompt: 'wait' },
    );
    await session.until(isSleeping);
    await restartEverything();
    const events = await session.untilTurnEnds();
    expectSoundLog(events);
    expect(events.filter(isSleeping)).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ status: 'completed' });
    expect(await readLastOutput(session)).toMatch(/^Slept for \d+\.\d seconds\.$/);
  });
});
