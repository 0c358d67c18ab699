import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openTestMachine, type TestMachine } from '../machines.ts';
import { callTool, textOf } from './calls.ts';

function openWith(files: Record<string, string | Buffer>): TestMachine {
  const bench = openTestMachine();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(bench.workspace, name, '..'), { recursive: true });
    writeFileSync(join(bench.workspace, name), content);
  }
  return bench;
}

const toLines = (count: number) =>
  Array.from({ length: count }, (_value, index) => `line ${index + 1}\n`).join('');

describe('read_file in slices', () => {
  test('numbers the lines of a whole file and says nothing more', async () => {
    const bench = openWith({ 'a.txt': 'one\r\n\ntwo' });
    expect(await textOf(bench, 'read_file', { file_path: 'a.txt' })).toBe('L1: one\nL2: \nL3: two');
  });

  test('tells the next offset, and following it reads every line once', async () => {
    const bench = openWith({ 'a.txt': toLines(7) });
    expect(await textOf(bench, 'read_file', { file_path: 'a.txt', limit: 3 })).toBe(
      'L1: line 1\nL2: line 2\nL3: line 3\nShowing lines 1–3 of 7. Ask again with offset 4 for more.',
    );
    expect(await textOf(bench, 'read_file', { file_path: 'a.txt', offset: 4, limit: 3 })).toBe(
      'L4: line 4\nL5: line 5\nL6: line 6\nShowing lines 4–6 of 7. Ask again with offset 7 for more.',
    );
    expect(await textOf(bench, 'read_file', { file_path: 'a.txt', offset: 7, limit: 3 })).toBe(
      'L7: line 7\nShowing lines 7–7 of 7. This is the end of the file.',
    );
  });

  test('stops at 2,000 lines, and earlier where the lines are long', async () => {
    const bench = openWith({ 'many.txt': toLines(2_500), 'wide.txt': `${'é'.repeat(300)}\n`.repeat(300) });
    expect((await textOf(bench, 'read_file', { file_path: 'many.txt' })).split('\n').slice(-2)).toEqual([
      'L2000: line 2000',
      'Showing lines 1–2000 of 2500. Ask again with offset 2001 for more.',
    ]);
    const wide = await callTool(bench, 'read_file', { file_path: 'wide.txt' });
    expect(wide.tokens).toBeLessThanOrEqual(10_050);
    expect(wide.text.split('\n').at(-1)).toBe(
      'Showing lines 1–66 of 300. Ask again with offset 67 for more.',
    );
  });

  test('cuts a line after 500 characters without splitting one, also when it has 20 million', async () => {
    const bench = openWith({
      'a.txt': `${'x'.repeat(499)}😀tail\nnext\n`,
      'huge.txt': Buffer.alloc(20_000_000, 'y'),
    });
    const [first = '', second] = (await textOf(bench, 'read_file', { file_path: 'a.txt' })).split('\n');
    expect([first.length, first.at(-1), second]).toEqual([4 + 499, 'x', 'L2: next']);
    expect(await textOf(bench, 'read_file', { file_path: 'huge.txt' })).toBe(`L1: ${'y'.repeat(500)}`);
  });

  test('says that a file is empty or that the offset is past its end', async () => {
    const bench = openWith({ empty: '', 'a.txt': 'one\n' });
    expect(await textOf(bench, 'read_file', { file_path: 'empty' })).toBe(
      `${bench.workspace}/empty is empty.`,
    );
    expect(await callTool(bench, 'read_file', { file_path: 'a.txt', offset: 2 })).toMatchObject({
      status: 'failed',
      text: `read_file failed: offset 2 is past the end of ${bench.workspace}/a.txt, which has 1 lines`,
    });
  });
});

describe('read_file and encodings', () => {
  test.each([
    ['UTF-8 with a mark', Buffer.from('\uFEFFzwölf\nzwei\n')],
    ['UTF-16 little endian', Buffer.from('\uFEFFzwölf\nzwei\n', 'utf16le')],
    ['UTF-16 big endian', Buffer.from('\uFEFFzwölf\nzwei\n', 'utf16le').swap16()],
    ['UTF-16 little endian without a mark', Buffer.from('zwölf\nzwei\n', 'utf16le')],
    ['UTF-16 big endian without a mark', Buffer.from('zwölf\nzwei\n', 'utf16le').swap16()],
    ['Latin-1', Buffer.from('zwölf\nzwei\n', 'latin1')],
  ])('reads %s', async (_name, content) => {
    const bench = openWith({ 'a.txt': content });
    expect(await textOf(bench, 'read_file', { file_path: 'a.txt' })).toBe('L1: zwölf\nL2: zwei');
  });

  test('finds the one byte that makes a large file Latin-1, and keeps characters whole between blocks', async () => {
    const filler = `${'a'.repeat(63)}\n`.repeat(9_000);
    const bench = openWith({
      latin: Buffer.concat([Buffer.from(filler), Buffer.from('ö', 'latin1')]),
      utf: `a${'€'.repeat(400_000)}\nend`,
    });
    expect((await textOf(bench, 'read_file', { file_path: 'latin', offset: 9_001 })).split('\n')[0]).toBe(
      'L9001: ö',
    );
    expect(await textOf(bench, 'read_file', { file_path: 'utf' })).toBe(`L1: a${'€'.repeat(499)}\nL2: end`);
  });

  test.each([
    [
      'image.png',
      Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'),
      'PNG image, 8 bytes',
      'use view_image to look at it',
    ],
    ['data.bin', Buffer.alloc(3_000), 'unknown type, 2.9 KiB', 'use a program that knows its format'],
  ])('refuses %s with its size, its type and a way on', async (name, content, what, hint) => {
    const bench = openWith({ [name]: content });
    expect(await callTool(bench, 'read_file', { file_path: name })).toMatchObject({
      status: 'failed',
      text: `read_file failed: ${bench.workspace}/${name} is a binary file (${what}), so it has no lines; ${hint}`,
    });
  });
});

describe('read_file by indentation', () => {
  const code = [
    'import x',
    '',
    'class A:',
    '    # about one',
    '    def one(self):',
    '        if x:',
    '            return 1',
    '',
    '        return 2',
    '',
    '    def two(self):',
    '        return 3',
    '',
    'top = 1',
  ].join('\n');
  const read = (indentation: object, more: object = {}) =>
    textOf(openWith({ 'a.py': code }), 'read_file', {
      file_path: 'a.py',
      mode: 'indentation',
      indentation,
      ...more,
    });

  test('goes as many levels out as asked, with the comment above and without siblings', async () => {
    expect(await read({ anchor_line: 7, max_levels: 2 })).toBe(
      [
        'L4:     # about one',
        'L5:     def one(self):',
        'L6:         if x:',
        'L7:             return 1',
        'L8: ',
        'L9:         return 2',
      ].join('\n'),
    );
    expect(await read({ anchor_line: 7, max_levels: 1 })).toBe(
      ['L6:         if x:', 'L7:             return 1'].join('\n'),
    );
  });

  test('takes siblings when asked, and everything without a number of levels', async () => {
    const siblings = await read({ anchor_line: 5, max_levels: 0, include_siblings: true });
    expect(siblings.split('\n').length).toBe(14);
    expect(await read({ anchor_line: 12, max_levels: 1, include_siblings: true })).toContain(
      'L4:     # about one',
    );
  });

  test('shows the closing line, and not what follows it', async () => {
    const bench = openWith({
      'a.ts': 'const a = 1;\n// says it\nfunction f() {\n\n  go();\n}\nconst b = 2;\n',
    });
    const indentation = { anchor_line: 5, max_levels: 1 };
    const block = 'L2: // says it\nL3: function f() {\nL4: \nL5:   go();\nL6: }';
    expect(await textOf(bench, 'read_file', { file_path: 'a.ts', mode: 'indentation', indentation })).toBe(
      block,
    );
    const bare = { ...indentation, include_header: false };
    expect(
      await textOf(bench, 'read_file', { file_path: 'a.ts', mode: 'indentation', indentation: bare }),
    ).toBe(block.replace('L2: // says it\n', ''));
  });

  test('grows from the anchor to both sides and keeps to the limit', async () => {
    expect(await read({ anchor_line: 6, include_siblings: true, max_lines: 3 })).toBe(
      ['L5:     def one(self):', 'L6:         if x:', 'L7:             return 1'].join('\n'),
    );
  });

  test('refuses an anchor past the end', async () => {
    const bench = openWith({ 'a.py': code });
    expect(
      await callTool(bench, 'read_file', { file_path: 'a.py', mode: 'indentation', offset: 99 }),
    ).toMatchObject({
      text: `read_file failed: line 99 is past the end of ${bench.workspace}/a.py, which has 14 lines`,
    });
  });
});

describe('paths that a model writes', () => {
  test('start at the folder of the session, at the root or at home', async () => {
    const bench = openWith({ 'sub/a.txt': 'here' });
    const path = join(bench.workspace, 'sub/a.txt');
    for (const file_path of ['sub/a.txt', './sub/../sub/a.txt', path, `~/${relative(homedir(), path)}`])
      expect(await textOf(bench, 'read_file', { file_path })).toBe('L1: here');
  });

  test('that are wrong are answered with the names that may have been meant', async () => {
    const bench = openWith({ 'src/main.ts': '', 'src/mail.ts': '', 'src/other.md': '', 'src/domain.ts': '' });
    const fail = async (file_path: string) => (await callTool(bench, 'read_file', { file_path })).text;
    const root = bench.workspace;
    expect(await fail('src/main.js')).toBe(
      `read_file failed: there is no ${root}/src/main.js; did you mean ${root}/src/main.ts or ${root}/src/mail.ts?`,
    );
    expect(await fail('scr/deep/main.ts')).toBe(
      `read_file failed: there is no ${root}/scr/deep/main.ts; did you mean ${root}/src?`,
    );
    expect(await fail('src/zzzzzzzz')).toBe(
      `read_file failed: there is no ${root}/src/zzzzzzzz; the deepest folder that exists is ${root}/src`,
    );
    expect(await fail('src')).toBe(
      `read_file failed: ${root}/src is a folder; use list_dir to see what is in it`,
    );
    expect(await fail('a\0b')).toBe(
      'failed to parse function arguments: file_path: must not contain a NUL character. A valid call: {"file_path":"src/main.ts","offset":1,"limit":200}',
    );
  });
});
