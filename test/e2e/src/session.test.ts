import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  answer,
  command,
  driveSession,
  expectSoundLog,
  patch,
  script,
  startTestStack,
  toLine,
} from '@holdfast/testing';
import type { TestStack } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

const inputsOf = (body: unknown) => (body as { input: unknown[] }).input;

describe('a session', () => {
  test('runs a command, patches a file and answers, in the order of the event contract', async () => {
    const session = await driveSession(
      stack,
      script(
        command('cat name.txt'),
        patch('*** Update File: name.txt', '@@', '-old', '+new'),
        answer('Done.'),
      ),
    );
    writeFileSync(join(session.cwd, 'name.txt'), 'old\n');
    await session.prompt('rename it');
    const events = await session.untilTurnEnds();
    expectSoundLog(events);
    expect(events.map(toLine)).toEqual([
      'status starting',
      'step 1 started',
      'usage 1',
      'tool_call exec_command',
      'tool_result exec_command ok',
      'step 1 completed',
      'step 2 started',
      'usage 2',
      'tool_call apply_patch',
      'tool_result apply_patch ok',
      'step 2 completed',
      'step 3 started',
      'text Done.',
      'usage 3',
      'step 3 completed',
      'status completed',
    ]);
    expect(readFileSync(join(session.cwd, 'name.txt'), 'utf8')).toBe('new\n');
    const [turn] = await session.listTurns();
    expect(turn).toMatchObject({ ordinal: 1, status: 'completed', steps: 3 });
  });

  test('gives every call its output, in the asked order, before the next request', async () => {
    const both = [...command('sleep 0.3; echo first').output, ...command('echo second').output];
    const session = await driveSession(stack, script({ output: both }, answer('ok')), {
      prompt: 'two at once',
    });
    await session.untilTurnEnds();
    const request = await stack.model.waitForRequest(
      ({ body }) =>
        JSON.stringify(body).includes('two at once') && JSON.stringify(body).includes('second\\n'),
    );
    const kinds = inputsOf(request.body).map((item) => (item as { type: string }).type);
    expect(kinds.slice(-4)).toEqual([
      'function_call',
      'function_call',
      'function_call_output',
      'function_call_output',
    ]);
    const outputs = (await session.readItems())
      .map(({ item }) => item)
      .filter((item) => item.type === 'function_call_output');
    expect(outputs.map((item) => /^(first|second)$/m.exec(item.output)?.[0])).toEqual(['first', 'second']);
  });

  test('keeps the conversation over turns and runs queued prompts one after the other', async () => {
    const session = await driveSession(stack, script(answer('one'), answer('two'), answer('three')));
    await Promise.all([session.prompt('first'), session.prompt('second'), session.prompt('third')]);
    const events = await session.untilTurnEnds(3);
    expectSoundLog(events);
    expect(events.filter((event) => event.type === 'text').map((event) => event.text)).toEqual([
      'one',
      'two',
      'three',
    ]);
    const items = (await session.readItems()).map(({ item }) => item);
    const roles = items.filter((item) => item.type === 'message').map((item) => item.role);
    expect(roles).toEqual(['user', 'user', 'assistant', 'user', 'assistant', 'user', 'assistant']);
  });

  test('makes one turn of an input that is sent again, also after it has ended', async () => {
    const session = await driveSession(stack, script(answer('once'), answer('twice')));
    const input = { inputId: 'the-same', text: 'go' };
    await Promise.all([session.submit(input), session.submit(input)]);
    await session.untilTurnEnds();
    await session.submit(input);
    await session.prompt('next');
    const events = await session.untilTurnEnds(2);
    expect(events.filter((event) => event.type === 'status' && event.status === 'starting')).toHaveLength(2);
    expect(events.filter((event) => event.type === 'text').map((event) => event.text)).toEqual([
      'once',
      'twice',
    ]);
  });

  test('puts a steer into the next request exactly once, after the outputs of the running step', async () => {
    const reply = { ...command('echo stepped'), gate: 'steer-gate' };
    const session = await driveSession(stack, script(reply, answer('ok')), { prompt: 'work' });
    await stack.model.gate('steer-gate').waiting();
    await session.steer({ inputId: crypto.randomUUID(), text: 'also do this' });
    stack.model.gate('steer-gate').open();
    const events = await session.untilTurnEnds();
    expect(events.map(toLine).filter((line) => line.startsWith('message_injected'))).toEqual([
      'message_injected also do this',
    ]);
    const items = (await session.readItems()).map(({ item }) => item.type);
    expect(items.slice(-5)).toEqual([
      'message',
      'function_call',
      'function_call_output',
      'message',
      'message',
    ]);
    const last = await stack.model.waitForRequest(({ body }) => JSON.stringify(body).includes('stepped\\n'));
    expect(JSON.stringify(inputsOf(last.body)).split('also do this')).toHaveLength(2);
  });

  test('asks a person before it acts when the session says so, and tells the model what was declined', async () => {
    const session = await driveSession(
      stack,
      script(command('echo yes > a'), command('echo no > b'), answer('ok')),
      {
        approvalPolicy: 'always',
        prompt: 'write files',
      },
    );
    const questions: string[] = [];
    for (const decision of ['accept', 'decline'] as const) {
      const seen = await session.until((event) => {
        const open =
          event.type === 'approval' && event.status === 'requested' && !questions.includes(event.approvalId);
        if (open) questions.push(event.approvalId);
        return open;
      });
      expect(seen.at(-1)?.type).toBe('approval');
      await session.approve({ approvalId: questions.at(-1) ?? '', decision });
    }
    const events = await session.untilTurnEnds();
    expectSoundLog(events);
    const results = events.filter((event) => event.type === 'tool_result').map((event) => event.status);
    expect(results).toEqual(['ok', 'denied']);
    expect(readFileSync(join(session.cwd, 'a'), 'utf8')).toBe('yes\n');
    expect(existsSync(join(session.cwd, 'b'))).toBe(false);
  });

  test('ends a turn with the classified error and stays usable', async () => {
    const wrongKey = { output: [{ text: '' }], fail: { status: 401, code: 'invalid_api_key', times: 1 } };
    const session = await driveSession(stack, script(wrongKey, answer('again')), { prompt: 'go' });
    const events = await session.untilTurnEnds();
    expect(events.at(-1)).toMatchObject({
      type: 'status',
      status: 'error',
      error: { code: 'model.unauthorized' },
    });
    await session.prompt('try again');
    expect((await session.untilTurnEnds(2)).at(-1)).toMatchObject({ type: 'status', status: 'completed' });
  });

  test('retries what may be retried, visibly, and bills the reply once', async () => {
    const failing = [{ status: 500 }, { status: 429, retryAfterSeconds: 0.2 }, { cut: { afterChunks: 1 } }];
    for (const fail of failing) {
      const reply = { ...answer('got through'), chunk: { size: 3 }, fail };
      const session = await driveSession(stack, script(reply), { prompt: 'go' });
      const events = await session.untilTurnEnds();
      expectSoundLog(events);
      expect(events.filter((event) => event.type === 'error' && event.willRetry)).toHaveLength(1);
      expect(events.filter((event) => event.type === 'usage')).toHaveLength(1);
      expect(events.at(-1)).toMatchObject({ status: 'completed' });
    }
  });
});
