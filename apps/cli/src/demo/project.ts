// project.ts: a small real project with one bug, in a git repository of its own.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Env } from '@holdfast/config';

export type DemoProject = {
  /** Holds everything of the demo; removed at its end. */
  folder: string;
  repository: string;
  /** Outside the repository; every command adds a line that names it, so that runs can be counted. */
  effectsFile: string;
  stateDir: string;
};

/** How long the slow test takes, so that there is time to kill something in the middle of it. */
const slowTestMs = 3_000;

export const buggyLine = '  return items.reduce((sum, item) => sum + item.price, 0);';
export const fixedLine = '  return items.reduce((sum, item) => sum + item.price * item.quantity, 0);';

const files: Record<string, string> = {
  'package.json': `${JSON.stringify({ name: 'basket', version: '1.0.0', private: true, type: 'module' }, null, 2)}\n`,
  'README.md': '# basket\n\nWhat a shopping basket costs. `node --test` runs the tests.\n',
  'src/basket.js': [
    '// Prices are whole cents.',
    'export function totalOf(items) {',
    buggyLine,
    '}',
    '',
    'export function formatCents(cents) {',
    '  return `${(cents / 100).toFixed(2)} EUR`;',
    '}',
    '',
  ].join('\n'),
  'test/basket.test.js': [
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    "import { setTimeout as delay } from 'node:timers/promises';",
    "import { formatCents, totalOf } from '../src/basket.js';",
    '',
    "test('an empty basket costs nothing', () => {",
    '  assert.equal(totalOf([]), 0);',
    '});',
    '',
    "test('the price counts once for each piece', () => {",
    '  assert.equal(totalOf([{ price: 250, quantity: 4 }]), 1_000);',
    '});',
    '',
    "test('cents are shown as euros, also by a slow printer', async () => {",
    `  await delay(${slowTestMs});`,
    "  assert.equal(formatCents(1_000), '10.00 EUR');",
    '});',
    '',
  ].join('\n'),
};

/** `node` is linked beside the repository as `../node`, so that the commands need nothing on their PATH. */
export async function createDemoProject(options: { node: string; env: Env }): Promise<DemoProject> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-demo-')));
  const repository = join(folder, 'basket');
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(repository, name)), { recursive: true });
    await writeFile(join(repository, name), content);
  }
  await symlink(options.node, join(folder, 'node'));
  const effectsFile = join(folder, 'effects.log');
  await writeFile(effectsFile, '');
  const identity = ['-c', 'user.name=Holdfast demo', '-c', 'user.email=demo@holdfast.invalid'];
  await git(repository, ['init', '--quiet'], options.env);
  await git(repository, ['add', '.'], options.env);
  await git(
    repository,
    [...identity, '-c', 'commit.gpgsign=false', 'commit', '--quiet', '-m', 'A basket'],
    options.env,
  );
  return { folder, repository, effectsFile, stateDir: join(folder, 'state') };
}

/** What changed since the only commit. */
export function readDiff(repository: string, env: Env): Promise<string> {
  return git(repository, ['--no-pager', 'diff', '--no-color', '--no-ext-diff'], env);
}

async function git(cwd: string, args: readonly string[], env: Env): Promise<string> {
  const { stdout } = await promisify(execFile)('git', [...args], { cwd, env });
  return stdout;
}
