import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The folder that a session's snapshots are of: the root of the repository around `cwd`, or `cwd` itself; without links.
 * @returns undefined when there is no such folder, or when it is the root of the file system
 */
export function findRoot(cwd: string): string | undefined {
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  const start = realpathSync(cwd);
  for (let folder = start; folder !== dirname(folder); folder = dirname(folder)) {
    if (lstatSync(join(folder, '.git'), { throwIfNoEntry: false })) return folder;
  }
  return start === dirname(start) ? undefined : start;
}
