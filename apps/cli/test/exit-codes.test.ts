import { ConfigError } from '@holdfast/config';
import { Failure } from '@holdfast/failures';
import { parseScript } from '@holdfast/model-script';
import { StackError } from '@holdfast/stack';
import { describe, expect, test } from 'vitest';
import { CliError, toExit, usageError } from '../src/exit-codes.ts';

describe('the exit code', () => {
  const cases: [string, unknown, number][] = [
    ['a mistake in the command line', usageError('no'), 2],
    ['a configuration that is not valid', new ConfigError('no'), 2],
    ['a session that does not exist', new Failure('session.unknown'), 2],
    ['a machine that does not exist', new Failure('machine.unknown'), 2],
    ['a machine that is offline', new Failure('machine.offline'), 4],
    ['a store that cannot be reached', new Failure('store.unavailable'), 1],
    ['a port that is occupied', new StackError('stack.port-occupied', 'no'), 1],
    ['a state folder that cannot be read', new StackError('stack.state-unreadable', 'no'), 1],
    ['an error nobody expected', new TypeError('no'), 1],
    ['a chosen code', new CliError(130, 'no'), 130],
  ];

  test.each(cases)('of %s is the documented one', (_, error, exitCode) => {
    expect(toExit(error).exitCode).toBe(exitCode);
  });

  test('of a script that is not one is 2, with the place of the mistake', () => {
    const thrown = (() => {
      try {
        return parseScript('{"replies": [{"output": 1}]}', 's.json');
      } catch (error) {
        return error;
      }
    })();
    expect(toExit(thrown)).toEqual({
      exitCode: 2,
      message: expect.stringContaining('s.json is wrong at replies[0].output'),
    });
  });

  test('comes with one line, also where a library quotes several', () => {
    const { message } = toExit(new Error('Unexpected token in "{\n  }\n": not valid.'));
    expect(message).toBe('Unexpected token in "{ } ": not valid.');
  });
});
