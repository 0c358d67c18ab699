import { join } from 'node:path';
import { ensureStack, resolvePaths, type StackInfo, type StackPaths } from '@holdfast/stack';
import { splitVariable } from './stack-settings.ts';
import { note, type Terminal } from './terminal.ts';

export function toPaths(terminal: Pick<Terminal, 'root' | 'env'>): StackPaths {
  return resolvePaths({ root: terminal.root, env: terminal.env });
}

/** Finds the stack up or starts it, with what happens meanwhile on stderr. `split` only matters when it has to be started. */
export async function bringUp(terminal: Terminal, options: { split: boolean }): Promise<StackInfo> {
  const paths = toPaths(terminal);
  const progress = { shown: false };
  return ensureStack({
    paths,
    env: {
      ...terminal.env,
      NODE_COMPILE_CACHE: join(paths.cacheDir, 'compile'),
      [splitVariable]: options.split ? '1' : '',
    },
    supervisorEntry: join(terminal.root, 'apps/cli/src/processes/supervisor.ts'),
    onProgress: (line) => {
      if (!progress.shown) note(terminal, 'Starting the Holdfast stack…');
      progress.shown = true;
      note(terminal, `  ${line}`);
    },
  });
}
