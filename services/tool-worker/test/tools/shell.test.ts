import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toExecArguments } from '../../src/tools/shell/exec-arguments.ts';
import { openTestMachine } from '../machines.ts';
import { callTool } from './calls.ts';

const printed = (text: string) => text.slice(text.indexOf('\nOutput:\n') + '\nOutput:\n'.length);

describe('shell', () => {
  test('hands every word to the program as it is', async () => {
    const bench = openTestMachine();
    const words = fc.array(
      fc.string({ unit: 'grapheme' }).filter((word) => !word.includes('\0')),
      {
        minLength: 1,
        maxLength: 5,
      },
    );
    await fc.assert(
      fc.asyncProperty(words, async (given) => {
        const { text } = await callTool(bench, 'shell', { command: ['printf', '%s\\n', ...given] });
        expect(printed(text)).toBe(given.map((word) => `${word}\n`).join(''));
      }),
      { numRuns: 12, examples: [[["it's", '$HOME `x` "y" \\ *', '']]] },
    );
  });

  test('runs the script of a shell as exec_command does, where it is told to', async () => {
    const bench = openTestMachine();
    writeFileSync(join(bench.workspace, 'a'), '');
    const output = await callTool(bench, 'shell', { command: ['bash', '-lc', 'ls; exit 3'], workdir: '.' });
    expect(output).toMatchObject({ status: 'failed', exitCode: 3 });
    expect(output.text).toMatch(
      /^Chunk ID: .*\nProcess exited with code 3\nOriginal token count: 1\nOutput:\na\n$/s,
    );
  });

  test('is a script only in the form that a shell takes', () => {
    expect(toExecArguments({ command: ['/bin/sh', '-c', 'x && y'] })).toMatchObject({
      cmd: 'x && y',
      login: false,
      shell: '/bin/sh',
    });
    expect(toExecArguments({ command: ['bash', '-lc', 'x', 'y z'], timeout_ms: 5 })).toEqual({
      cmd: "bash -lc x 'y z'",
      login: false,
      yield_time_ms: 30_000,
      timeout_ms: 5,
    });
  });

  test('refuses arguments with the member, the rule and an example', async () => {
    expect((await callTool(openTestMachine(), 'shell', { command: [] })).text).toBe(
      'failed to parse function arguments: command: must not be empty. A valid call: {"command":["bash","-lc","ls -la"],"workdir":"src"}',
    );
  });
});
