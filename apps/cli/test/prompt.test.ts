import { describe, expect, test } from 'vitest';
import { readPrompt } from '../src/prompt.ts';
import { createTestTerminal } from './test-terminal.ts';

const read = (argument: string | undefined, stdin?: string): Promise<string> =>
  readPrompt(createTestTerminal(stdin === undefined ? {} : { stdin }), argument);

describe('a prompt', () => {
  test('is the argument when stdin is a terminal', async () => {
    expect(await read('repair it')).toBe('repair it');
  });

  test('comes from stdin without an argument', async () => {
    expect(await read(undefined, 'repair\nit\n')).toBe('repair\nit\n');
  });

  test('comes from stdin when the argument is a dash', async () => {
    expect(await read('-', 'repair it')).toBe('repair it');
  });

  test('has what was piped as a block behind the argument', async () => {
    expect(await read('explain', 'line 1\nline 2\n')).toBe('explain\n\n<stdin>\nline 1\nline 2\n</stdin>');
  });

  test('has no block when the pipe was empty', async () => {
    expect(await read('explain', '')).toBe('explain');
  });

  test('may have exactly 1 MiB', async () => {
    expect(await read('x'.repeat(1024 * 1024))).toHaveLength(1024 * 1024);
  });

  const wrong: [string, string | undefined, string | undefined, string][] = [
    ['is missing', undefined, undefined, 'There is no prompt'],
    ['is a dash but stdin is a terminal', '-', undefined, 'There is no prompt'],
    ['is blank', ' \n', undefined, 'There is no prompt'],
    ['is empty on stdin', undefined, '', 'There is no prompt'],
    ['is over 1 MiB as an argument', 'ä'.repeat(524_289), undefined, 'larger than 1 MiB'],
    ['is over 1 MiB on stdin', undefined, 'x'.repeat(1024 * 1024 + 1), 'larger than 1 MiB'],
  ];

  test.each(wrong)('that %s is refused with 2', async (_, argument, stdin, message) => {
    await expect(read(argument, stdin)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(message),
    });
  });
});
