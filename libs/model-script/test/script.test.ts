import { describe, expect, test } from 'vitest';
import { parseScript, ScriptInvalid } from '../src/index.ts';

function parseError(value: unknown): string {
  try {
    parseScript(typeof value === 'string' ? value : JSON.stringify(value), 'demo.json');
  } catch (error) {
    if (error instanceof ScriptInvalid) return error.message;
    throw error;
  }
  throw new Error('the script was accepted');
}

describe('parseScript', () => {
  test('a script with every kind of field is read as it is written', () => {
    const script = {
      name: 'all',
      model: 'scripted',
      loop: true,
      replies: [
        {
          when: {
            model: 'm',
            lastUserContains: 'a',
            inputContains: 'b',
            hasToolOutputFor: 'call_r0_0',
            turn: 0,
            reply: 1,
          },
          output: [
            { text: 'hello' },
            { reasoning: 'thinking' },
            { call: { name: 'exec_command', arguments: { cmd: 'true' }, namespace: 'n', callId: 'c' } },
            { call: { name: 'broken', arguments: '{' } },
            { custom: { name: 'apply_patch', input: 'patch' } },
            { localShell: { command: ['ls'], workingDirectory: '/', timeoutMs: 5 } },
          ],
          usage: { inputTokens: 1, cachedTokens: 2, outputTokens: 3, reasoningTokens: 4 },
          delayMs: 1,
          chunk: { size: 3, delayMs: 1 },
          fail: { status: 429, retryAfterSeconds: 2, times: 3 },
          endTurn: false,
          gate: 'g',
          midGate: 'h',
        },
        { output: [], fail: { cut: { afterChunks: 1, clean: true } } },
        { output: [], fail: { idle: { afterChunks: 0 }, times: 'always' } },
        { output: [], fail: { error: { code: 'server_is_overloaded', message: 'later' } } },
      ],
    };
    expect(parseScript(JSON.stringify(script), 'demo.json')).toEqual(script);
  });

  test('text that is not JSON is refused with the reason', () => {
    expect(parseError('{')).toMatch(/^The script demo\.json is not JSON: .+\.$/);
  });

  test.each([
    [
      'a list',
      [],
      'The script demo.json is wrong at its top level: invalid input: expected object, received array.',
    ],
    [
      'no replies',
      {},
      'The script demo.json is wrong at replies: invalid input: expected array, received undefined.',
    ],
    [
      'an unknown field',
      { replies: [{ output: [], ouput: 1 }] },
      'The script demo.json is wrong at replies[0]: there is no field "ouput" here.',
    ],
    [
      'a wrong field inside a call',
      { replies: [{ output: [{ text: 'a' }, { call: { name: 7, arguments: {} } }] }] },
      'The script demo.json is wrong at replies[0].output[1].call.name: invalid input: expected string, received number.',
    ],
    [
      'arguments of a wrong kind',
      { replies: [{ output: [{ call: { name: 'a', arguments: 7 } }] }] },
      'The script demo.json is wrong at replies[0].output[0].call.arguments: expected an object, or a string that is sent as it is.',
    ],
    [
      'two kinds in one part',
      { replies: [{ output: [{ text: 'a', reasoning: 'b' }] }] },
      'The script demo.json is wrong at replies[0].output[0]: expected exactly one of text, reasoning, call, custom, localShell.',
    ],
    [
      'a failure without a kind',
      { replies: [{ output: [], fail: { times: 2 } }] },
      'The script demo.json is wrong at replies[0].fail: expected exactly one of status, cut, idle, error.',
    ],
    [
      'HTTP fields on a stream failure',
      { replies: [{ output: [], fail: { cut: { afterChunks: 1 }, retryAfterSeconds: 1 } }] },
      'The script demo.json is wrong at replies[0].fail: code, message and retryAfterSeconds belong to status.',
    ],
    [
      'a number of times that is none',
      { replies: [{ output: [], fail: { status: 500, times: 'often' } }] },
      "The script demo.json is wrong at replies[0].fail.times: expected a whole number from 1, or 'always'.",
    ],
    [
      'an impossible number of times',
      { replies: [{ output: [], fail: { status: 500, times: 0 } }] },
      'The script demo.json is wrong at replies[0].fail.times: too small: expected number to be >=1.',
    ],
  ])('%s is refused with one sentence that names the place', (_title, value, message) => {
    expect(parseError(value)).toBe(message);
  });
});
