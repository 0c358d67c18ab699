import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// Every gate of `npm run check` is shown to fail on the fault it exists for, in a copy of the repository,
// and to pass without it. A gate that cannot fail is no gate.

const root = fileURLToPath(new URL('../../..', import.meta.url));
const leftOut = new Set(['node_modules', '.git', '.turbo', 'dist', 'docs']);
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'holdfast-gates-'));
  for (const name of readdirSync(root)) {
    if (leftOut.has(name)) continue;
    cpSync(join(root, name), join(copy, name), {
      recursive: true,
      filter: (source) => !/[/\\](node_modules|\.turbo)$/.test(source),
    });
  }
  linkDependencies();
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** Packages from the real node_modules, but the workspaces of the copy. */
function linkDependencies(): void {
  const modules = join(copy, 'node_modules');
  mkdirSync(join(modules, '@holdfast'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '@holdfast') symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  for (const folder of ['apps', 'libs', 'services', 'test', '.']) {
    for (const name of folder === '.' ? ['bench'] : readdirSync(join(copy, folder))) {
      const { name: packageName } = readJson(join(folder, name, 'package.json'));
      symlinkSync(join(copy, folder, name), join(modules, packageName));
    }
  }
}

function readJson(path: string): { name: string; dependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(copy, path), 'utf8')) as never;
}

type Outcome = { failed: boolean; output: string };

const gates = {
  format: ['oxfmt', '--check'],
  lint: ['oxlint'],
  types: ['tsc', '--noEmit'],
  boundaries: ['turbo', 'boundaries'],
  'dead code': ['knip'],
  'version drift': ['sherif'],
} as const;

function run(gate: keyof typeof gates): Promise<Outcome> {
  const [program, ...args] = gates[gate];
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', NO_COLOR: '1', FORCE_COLOR: '0' };
  return new Promise((resolve) => {
    execFile(
      join(root, 'node_modules/.bin', program),
      args,
      { cwd: copy, env, maxBuffer: 1e8 },
      (error, stdout, stderr) => resolve({ failed: error !== null, output: stdout + stderr }),
    );
  });
}

/** Writes files over the copy, runs the gate, and puts everything back. */
async function plant(files: Record<string, string>, gate: keyof typeof gates): Promise<Outcome> {
  const before = Object.keys(files).map((path) => {
    try {
      return [path, readFileSync(join(copy, path), 'utf8')] as const;
    } catch {
      return [path, undefined] as const;
    }
  });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), text);
  }
  const outcome = await run(gate);
  for (const [path, text] of before) {
    if (text === undefined) rmSync(join(copy, path));
    else writeFileSync(join(copy, path), text);
  }
  return outcome;
}

const append = (path: string, text: string) => ({ [path]: readFileSync(join(copy, path), 'utf8') + text });
const workflow = 'services/orchestrator/src/workflows/control.ts';
const service = 'services/llm-worker/src/planted.ts';

describe('every gate is silent on the repository as it is', () => {
  test.each(Object.keys(gates) as (keyof typeof gates)[])('%s', async (gate) => {
    const { failed, output } = await run(gate);
    expect(failed, output).toBe(false);
  });
});

type Fault = [name: string, gate: keyof typeof gates, said: RegExp, files: () => Record<string, string>];

const faults: Fault[] = [
  [
    'code that is not formatted',
    'format',
    /planted\.ts/,
    () => ({ [service]: 'export const   planted = 1\n' }),
  ],
  [
    'a promise nobody waits for',
    'lint',
    /no-floating-promises/,
    () => ({ [service]: 'async function work(): Promise<void> {}\nwork();\n' }),
  ],
  [
    'a file of more than 300 lines',
    'lint',
    /max-lines/,
    () => ({
      [service]: Array.from({ length: 320 }, (_, line) => `export const line${line} = ${line};\n`).join(''),
    }),
  ],
  [
    'a function of more than 60 lines',
    'lint',
    /max-lines-per-function/,
    () => ({
      [service]: `export function long(log: (n: number) => void): void {\n${'  log(1);\n'.repeat(70)}}\n`,
    }),
  ],
  [
    'an any',
    'lint',
    /no-explicit-any/,
    () => ({ [service]: 'export const planted = (value: any): unknown => value;\n' }),
  ],
  [
    'an import cycle',
    'lint',
    /no-cycle/,
    () => ({
      'libs/config/src/one.ts': "import { two } from './two.ts';\nexport const one = (): unknown => two;\n",
      'libs/config/src/two.ts': "import { one } from './one.ts';\nexport const two = (): unknown => one;\n",
    }),
  ],
  [
    'a module of Node in the workflow sandbox',
    'lint',
    /no-restricted-imports/,
    () =>
      append(workflow, "\nimport { readFileSync } from 'node:fs';\nexport const planted = readFileSync;\n"),
  ],
  [
    'a global of Node in the workflow sandbox',
    'lint',
    /no-restricted-globals/,
    () => append(workflow, '\nexport const planted = () => process.pid;\n'),
  ],
  [
    'an import past the exports of a package',
    'lint',
    /no-restricted-imports/,
    () => ({
      [service]:
        "import { Failure } from '@holdfast/failures/src/failure.ts';\nexport const planted = Failure;\n",
    }),
  ],
  [
    'a type error',
    'types',
    /planted\.ts.*TS2322/,
    () => ({ [service]: "export const planted: number = 'one';\n" }),
  ],
  ['an enum', 'types', /TS1294/, () => ({ [service]: 'export enum Planted {\n  One,\n}\n' })],
  [
    'a forgotten case of a union',
    'lint',
    /switch-exhaustiveness-check/,
    () => ({
      [service]:
        "export function planted(kind: 'a' | 'b'): number {\n  switch (kind) {\n    case 'a':\n      return 1;\n  }\n  return 0;\n}\n",
    }),
  ],
  [
    'a service that imports a service',
    'boundaries',
    /session-api|service/,
    () => ({
      [service]:
        "import { startSessionApi } from '@holdfast/session-api';\nexport const planted = startSessionApi;\n",
      ...withDependency('services/llm-worker/package.json', '@holdfast/session-api', '*'),
    }),
  ],
  [
    'a library that imports a service',
    'boundaries',
    /history-store|service|core/,
    () => ({
      'libs/config/src/planted.ts':
        "import { startHistoryStore } from '@holdfast/history-store';\nexport const planted = startHistoryStore;\n",
      ...withDependency('libs/config/package.json', '@holdfast/history-store', '*'),
    }),
  ],
  [
    'a relative import out of the package',
    'boundaries',
    /leaves the package|planted/,
    () => ({
      [service]:
        "import { Failure } from '../../../libs/failures/src/failure.ts';\nexport const planted = Failure;\n",
    }),
  ],
  ['a file nobody imports', 'dead code', /planted\.ts/, () => ({ [service]: 'export const planted = 1;\n' })],
  [
    'an export nobody uses',
    'dead code',
    /planted/,
    () => append('services/llm-worker/src/config.ts', '\nexport const planted = 1;\n'),
  ],
  [
    'a dependency nobody uses',
    'dead code',
    /picocolors/,
    () => withDependency('services/llm-worker/package.json', 'picocolors', '1.1.1'),
  ],
  [
    'two versions of one dependency',
    'version drift',
    /zod/,
    () => withDependency('services/llm-worker/package.json', 'zod', '4.6.6'),
  ],
];

function withDependency(path: string, name: string, version: string): Record<string, string> {
  const manifest = readJson(path);
  const dependencies = { ...manifest.dependencies, [name]: version };
  return { [path]: `${JSON.stringify({ ...manifest, dependencies }, null, 2)}\n` };
}

describe('a planted fault is caught:', () => {
  test.each(faults)('%s by %s', async (_name, gate, said, files) => {
    const { failed, output } = await plant(files(), gate);
    expect(failed, output).toBe(true);
    expect(output).toMatch(said);
  });
});
