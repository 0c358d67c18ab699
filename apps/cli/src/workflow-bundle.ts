// workflow-bundle.ts: the compiled workflows of this checkout, made once for each state of their sources.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Env } from '@holdfast/config';

export type WorkflowBundleOptions = {
  root: string;
  cacheDir: string;
  /** The Node that makes the bundle. */
  node: string;
  env: Env;
  /** Told when the bundle has to be made. */
  onProgress: (line: string) => void;
};

/** Everything the sandbox may import; anything else there is refused by the linter. */
const sources = [
  'services/orchestrator/src/workflows',
  ...['protocol', 'failures', 'contracts', 'agent-loop'].map((name) => `libs/${name}/src`),
];
/** The SDK is part of the bundle, too. */
const sdk = 'node_modules/@temporalio/workflow/package.json';

/** Path of the bundle; takes 2–4 s when the sources are new. Two callers at once are harmless: the file appears whole. */
export async function ensureWorkflowBundle({
  root,
  cacheDir,
  node,
  env,
  onProgress,
}: WorkflowBundleOptions): Promise<string> {
  const folder = join(cacheDir, 'workflows');
  const bundle = join(folder, `${await hashSources(root)}.js`);
  if (existsSync(bundle)) return bundle;
  onProgress('compiling the workflows of this checkout, once for each change of them…');
  await mkdir(folder, { recursive: true });
  // In a process of its own: the bundler's memory would stay with the supervisor.
  const entry = join(root, 'apps/cli/src/processes/bundle-workflows.ts');
  await promisify(execFile)(node, ['--disable-warning=ExperimentalWarning', entry, bundle], {
    cwd: root,
    env,
  });
  return bundle;
}

async function hashSources(root: string): Promise<string> {
  const hash = createHash('sha256').update(await readFile(join(root, sdk)));
  for (const source of sources) {
    const names = await readdir(join(root, source), { recursive: true });
    for (const name of names.filter((entry) => entry.endsWith('.ts')).toSorted()) {
      hash.update(`${source}/${name}\n`).update(await readFile(join(root, source, name)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}
