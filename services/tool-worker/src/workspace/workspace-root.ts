import { lstatSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * The folder that a session's snapshots are of: the root of the repository around `cwd`, or `cwd` itself; without links.
 * @returns undefined when there is no such folder, and for a person's home and the folders above it: nobody wants a copy of all that
 */
export function findRoot(cwd: string, home: string = homedir()): string | undefined {
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  const start = realpathSync(cwd);
  const tooWide = toFoldersUpFrom(statSync(home, { throwIfNoEntry: false }) ? realpathSync(home) : '/');
  for (const folder of toFoldersUpFrom(start)) {
    if (tooWide.includes(folder)) break;
    if (lstatSync(join(folder, '.git'), { throwIfNoEntry: false })) return folder;
  }
  return tooWide.includes(start) ? undefined : start;
}

/** The folder and all above it, the root of the file system last. */
function toFoldersUpFrom(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...toFoldersUpFrom(parent)];
}
