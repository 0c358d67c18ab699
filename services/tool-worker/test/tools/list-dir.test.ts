import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openTestMachine } from '../machines.ts';
import { callTool, textOf } from './calls.ts';

function openTree() {
  const bench = openTestMachine();
  const root = bench.workspace;
  mkdirSync(join(root, 'b/inner/deep'), { recursive: true });
  mkdirSync(join(root, 'a'));
  writeFileSync(join(root, 'b/inner/deep/z.txt'), '');
  writeFileSync(join(root, 'b/file'), '');
  writeFileSync(join(root, 'c\nd'), '');
  symlinkSync('b', join(root, 'link'));
  return { bench, root };
}

describe('list_dir', () => {
  test('shows a sorted tree with marks, two levels deep, and one entry a line', async () => {
    const { bench, root } = openTree();
    expect(await textOf(bench, 'list_dir', {})).toBe(
      [`Absolute path: ${root}`, 'a/', 'b/', '  file', '  inner/', 'c?d', 'link@'].join('\n'),
    );
    expect(await textOf(bench, 'list_dir', { dir_path: 'b', depth: 3 })).toBe(
      [`Absolute path: ${root}/b`, 'file', 'inner/', '  deep/', '    z.txt'].join('\n'),
    );
  });

  test('tells the next offset, and following it lists every entry once', async () => {
    const { bench, root } = openTree();
    expect(await textOf(bench, 'list_dir', { limit: 4 })).toBe(
      [
        `Absolute path: ${root}`,
        'a/',
        'b/',
        '  file',
        '  inner/',
        'Showing entries 1–4 of 6. Ask again with offset 5 for more.',
      ].join('\n'),
    );
    expect(await textOf(bench, 'list_dir', { offset: 5, limit: 4 })).toBe(
      [`Absolute path: ${root}`, 'c?d', 'link@', 'Showing entries 5–6 of 6. These are the last ones.'].join(
        '\n',
      ),
    );
    expect(await callTool(bench, 'list_dir', { offset: 7 })).toMatchObject({
      status: 'failed',
      text: 'list_dir failed: offset 7 is past the last entry; there are 6 within this depth',
    });
  });

  test('says that a folder is empty, and what to do with a file', async () => {
    const { bench, root } = openTree();
    expect(await textOf(bench, 'list_dir', { dir_path: 'a' })).toBe(
      `Absolute path: ${root}/a\nThe folder is empty.`,
    );
    expect((await callTool(bench, 'list_dir', { dir_path: 'b/file' })).text).toBe(
      `list_dir failed: ${root}/b/file is not a folder; use read_file to read it`,
    );
    expect((await callTool(bench, 'list_dir', { dir_path: 'bb' })).text).toBe(
      `list_dir failed: there is no ${root}/bb; did you mean ${root}/b?`,
    );
  });

  test.skipIf(process.getuid?.() === 0)('goes on behind a folder that it may not read', async () => {
    const { bench, root } = openTree();
    chmodSync(join(root, 'b/inner'), 0);
    expect(await textOf(bench, 'list_dir', { depth: 3 })).toContain('link@');
    chmodSync(join(root, 'b/inner'), 0o700);
  });
});
