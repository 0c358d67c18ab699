import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openTestMachine } from '../machines.ts';
import { callTool, textOf } from './calls.ts';

function openFiles() {
  const bench = openTestMachine();
  const root = bench.workspace;
  mkdirSync(join(root, 'src'));
  for (const [index, name] of ['src/old.ts', 'src/new.ts', 'readme.md'].entries()) {
    writeFileSync(join(root, name), `some needle in ${name}\n`);
    utimesSync(join(root, name), index, 1_000 + index);
  }
  writeFileSync(join(root, 'src/none.ts'), 'nothing\n');
  return { bench, root };
}

describe('grep_files', () => {
  test('names the files that match, newest first', async () => {
    const { bench, root } = openFiles();
    expect(await textOf(bench, 'grep_files', { pattern: 'n[e]{2}dle' })).toBe(
      [`${root}/readme.md`, `${root}/src/new.ts`, `${root}/src/old.ts`].join('\n'),
    );
  });

  test('searches the files and the folder that it is told to', async () => {
    const { bench, root } = openFiles();
    expect(await textOf(bench, 'grep_files', { pattern: 'needle', include: '*.ts', path: 'src' })).toBe(
      `${root}/src/new.ts\n${root}/src/old.ts`,
    );
    expect(await textOf(bench, 'grep_files', { pattern: 'needle', path: 'readme.md' })).toBe(
      `${root}/readme.md`,
    );
  });

  test('says how many there are beyond the limit', async () => {
    const { bench, root } = openFiles();
    expect(await textOf(bench, 'grep_files', { pattern: 'needle', limit: 1 })).toBe(
      `${root}/readme.md\nShowing 1 of 3 files. Use a narrower pattern, include or path to see the others.`,
    );
  });

  test('without a match is an answer, not a failure', async () => {
    const { bench, root } = openFiles();
    expect(await textOf(bench, 'grep_files', { pattern: 'absent' })).toBe(`No file in ${root} matches.`);
    expect(await textOf(bench, 'grep_files', { pattern: '-x' })).toBe(`No file in ${root} matches.`);
  });

  test('hands back what ripgrep says of a pattern it does not take', async () => {
    const { bench, root } = openFiles();
    const output = await callTool(bench, 'grep_files', { pattern: '(' });
    expect([output.status, output.text]).toEqual([
      'failed',
      expect.stringMatching(/^grep_files failed: .*unclosed group/s),
    ]);
    expect((await callTool(bench, 'grep_files', { pattern: 'x', path: 'srk' })).text).toBe(
      `grep_files failed: there is no ${root}/srk; did you mean ${root}/src?`,
    );
  });
});
