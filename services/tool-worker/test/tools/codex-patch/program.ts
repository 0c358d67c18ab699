// program.ts: apply_patch of the Codex binary, to compare with. It is no dependency: without it there is nothing to compare.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const inCache =
  'holdfast/codex-0.169.0/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex';

/** Undefined when it is neither at HOLDFAST_CODEX_BIN nor in the cache. */
export function findCodex(env: NodeJS.ProcessEnv): string | undefined {
  const cache = env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const file = env['HOLDFAST_CODEX_BIN'] ?? join(cache, inCache);
  return existsSync(file) ? file : undefined;
}

/** @returns the exit status. @throws Error when it neither applied nor refused the patch */
export function applyWithCodex(program: string, patch: string, cwd: string): 0 | 1 {
  const { status, stderr, error } = spawnSync(program, ['--codex-run-as-apply-patch', patch], {
    cwd,
    encoding: 'utf8',
  });
  if (status !== 0 && status !== 1) {
    throw new Error(`the Codex binary ended with ${status}: ${error?.message ?? stderr}`);
  }
  return status;
}
