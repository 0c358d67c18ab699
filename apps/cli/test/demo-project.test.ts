import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { buggyLine, createDemoProject, fixedLine, readDiff } from '../src/demo/project.ts';

test('the project of the demo is a clean repository without a git identity, and its bug is one line', async () => {
  const env = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
  const project = await createDemoProject({ node: process.execPath, env });
  try {
    expect(await readDiff(project.repository, env)).toBe('');
    const file = join(project.repository, 'src/basket.js');
    await writeFile(file, (await readFile(file, 'utf8')).replace(buggyLine, fixedLine));
    const { stdout } = await promisify(execFile)(join(project.folder, 'node'), ['--test'], {
      cwd: project.repository,
      env,
    });
    expect(stdout).toContain('pass 3');
    expect(
      (await readDiff(project.repository, env)).split('\n').filter((line) => /^[+-] /.test(line)),
    ).toEqual([`-${buggyLine}`, `+${fixedLine}`]);
  } finally {
    await rm(project.folder, { recursive: true });
  }
});
