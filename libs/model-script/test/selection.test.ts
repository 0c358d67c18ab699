import { describe, expect, test } from 'vitest';
import type { Script } from '../src/index.ts';
import { toModelRequest, type InputItem } from '../src/model-request.ts';
import { selectReply } from '../src/selection.ts';
import { toOutput, toUser } from './client.ts';

function select(script: Script, input: readonly InputItem[] | string, model = 'scripted'): string {
  const request = toModelRequest({ body: { model, stream: true, input }, bytes: 0, sessionId: undefined });
  const selection = selectReply(script, request, 'default');
  if (selection.kind === 'none') return selection.message;
  const [part] = selection.reply.output;
  return `${selection.number} ${part && 'text' in part ? part.text : '?'}`;
}

const toScript = (...texts: string[]): Script => ({ replies: texts.map((text) => ({ output: [{ text }] })) });
const toCall = (number: number): InputItem => ({
  type: 'function_call',
  id: `fc_r${number}_0`,
  call_id: `call_r${number}_0`,
  name: 'f',
});
const toAssistant = (id?: string): InputItem => ({
  type: 'message',
  role: 'assistant',
  content: [],
  ...(id ? { id } : {}),
});

describe('a script without conditions', () => {
  const script = toScript('a', 'b', 'c');

  test('plays the reply after the highest number in the ids of the input', () => {
    expect(select(script, 'go')).toBe('0 a');
    expect(select(script, [toUser('go'), toCall(0), toOutput('call_r0_0')])).toBe('1 b');
    expect(select(script, [toUser('go'), toCall(1), toOutput('call_r1_0'), toCall(0)])).toBe('2 c');
  });

  test('reads the number from the call id when the client gives the item an id of its own', () => {
    const call = { ...toCall(1), id: 'fc_0123' };
    expect(select(script, [toUser('go'), call, toOutput('call_r1_0')])).toBe('2 c');
  });

  test('reads the number from the item id when the script chose the call id', () => {
    const call = { ...toCall(1), call_id: 'mine' };
    expect(select(script, [toUser('go'), call, toOutput('mine')])).toBe('2 c');
  });

  test('counts runs of model items that came back without numbers', () => {
    const first = [toUser('go'), toAssistant(), toUser('more')];
    expect(select(script, first)).toBe('1 b');
    expect(select(script, [...first, toAssistant('msg_0123'), toUser('more')])).toBe('2 c');
    expect(
      select(script, [toUser('go'), toCall(0), toOutput('call_r0_0'), toAssistant(), toUser('more')]),
    ).toBe('2 c');
  });

  test('takes items without an id that stand beside numbered ones for parts of the same reply', () => {
    const input = [
      toUser('go'),
      { type: 'reasoning', summary: [] },
      toAssistant(),
      toCall(0),
      toOutput('call_r0_0'),
    ];
    expect(select(script, input)).toBe('1 b');
  });

  test('fails with the script, the number and the last input item when it runs out', () => {
    const input = [toUser('go'), toCall(2), toOutput('call_r2_0', 'the result')];
    expect(select({ ...script, name: 'short' }, input)).toBe(
      'The script "short" has no reply 3: it has 3, 1 played, and the last input item is function_call_output call_r2_0 "the result"; add a reply or set "loop": true.',
    );
  });

  test('starts again with new numbers when it loops', () => {
    const looping = { ...script, loop: true };
    expect(select(looping, [toUser('go'), toAssistant('msg_r2_0'), toUser('again')])).toBe('3 a');
    expect(select(looping, [toUser('go'), toAssistant('msg_r4_0'), toUser('again')])).toBe('5 c');
  });
});

describe('conditions', () => {
  const script: Script = {
    replies: [
      { output: [{ text: 'parent 1' }] },
      { when: { lastUserContains: 'child' }, output: [{ text: 'child 1' }] },
      { output: [{ text: 'parent 2' }] },
      { when: { inputContains: 'child' }, output: [{ text: 'child 2' }] },
    ],
  };

  test('split a script into parts that keep their own place', () => {
    expect(select(script, [toUser('go')])).toBe('0 parent 1');
    expect(select(script, [toUser('go'), toCall(0), toOutput('call_r0_0')])).toBe('2 parent 2');
    expect(select(script, [toUser('be a child')])).toBe('1 child 1');
    expect(select(script, [toUser('be a child'), toCall(1), toOutput('call_r1_0')])).toBe('3 child 2');
  });

  test('run out on their own, without falling back to the replies of others', () => {
    expect(
      select(script, [toUser('be a child'), toCall(1), toOutput('call_r1_0'), toAssistant('msg_r3_0')]),
    ).toBe(
      'The script "default" has no further reply whose "when" matches: it has 4, 2 played, and the last input item is message assistant []; add a reply or set "loop": true.',
    );
  });

  test('that do not match leave a script without other replies speechless', () => {
    const conditional: Script = { replies: [{ when: { model: 'other' }, output: [] }] };
    expect(select(conditional, 'go')).toBe(
      'No reply of script "default" matches the request, whose last input item is message user "go"; add a reply without "when".',
    );
  });

  const called = [toUser('go'), { ...toCall(0), name: 'exec_command' }, toOutput('call_r0_0', 'line "one"')];
  test.each([
    ['model', { model: 'm' }, [toUser('go')], true],
    ['another model', { model: 'n' }, [toUser('go')], false],
    [
      'text of the last user message',
      { lastUserContains: 'second' },
      [toUser('first'), toUser('the second')],
      true,
    ],
    [
      'text of an earlier user message',
      { lastUserContains: 'first' },
      [toUser('first'), toUser('the second')],
      false,
    ],
    ['text with quotes in an output', { inputContains: 'line "one"' }, called, true],
    ['a tool that was called', { hasToolOutputFor: 'exec_command' }, called, true],
    ['a call id', { hasToolOutputFor: 'call_r0_0' }, called, true],
    ['a call without output', { hasToolOutputFor: 'exec_command' }, called.slice(0, 2), false],
    ['the first turn', { turn: 0 }, called, true],
    [
      'the second turn',
      { turn: 1 },
      [...called, toAssistant('msg_r1_0'), toUser('context'), toUser('more')],
      true,
    ],
    [
      'the number of replies so far',
      { reply: 2 },
      [...called, toAssistant('msg_r1_0'), toUser('more')],
      true,
    ],
    ['another number of replies', { reply: 1 }, [toUser('go')], false],
  ] as const)('can ask for %s', (_title, when, input, isExpected) => {
    const loop: Script = {
      loop: true,
      replies: [{ output: [{ text: 'no' }] }, { when, output: [{ text: 'yes' }] }],
    };
    expect(select(loop, [...input], 'm').endsWith(isExpected ? 'yes' : 'no')).toBe(true);
  });
});
