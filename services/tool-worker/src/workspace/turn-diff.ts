// turn-diff.ts: what a turn changed, as a unified diff, made by git from the private directories alone.
import { execFileSync } from 'node:child_process';
import { toShownPath } from './byte-paths.ts';
import type { ObjectStore } from './object-store.ts';
import { diffTrees, isFolder } from './tree.ts';

/** `bounded`: the diff was too long, or git is missing; `text` then lists the paths. */
export type TurnDiff = { text: string; bounded: boolean };

export type DiffedTrees = { store: ObjectStore; before: string; after: string };

const limitBytes = 1024 * 1024;
const listedPaths = 1_000;

/** Settings of the person or the system have no say. */
const environment = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_ATTR_NOSYSTEM: '1',
  LC_ALL: 'C',
};

const options = ['--no-color', '--no-ext-diff', '--no-textconv', '--find-renames', '--ignore-submodules=all'];

/** `path` says where git is. Empty when nothing changed. @throws Error when a snapshot is damaged */
export function readTurnDiff(trees: readonly DiffedTrees[], path: string): TurnDiff {
  const changed = trees.filter(({ before, after }) => before !== after);
  try {
    const text = changed.map((pair) => runGit(pair, path)).join('');
    if (Buffer.byteLength(text) <= limitBytes) return { text, bounded: false };
  } catch (error) {
    if (!isExpected(error)) throw error;
  }
  return { text: changed.map(toSummary).join('\n'), bounded: true };
}

function runGit({ store, before, after }: DiffedTrees, path: string): string {
  return execFileSync('git', [`--git-dir=${store.folder}`, 'diff', ...options, before, after], {
    cwd: store.folder,
    env: { ...environment, PATH: path },
    encoding: 'utf8',
    maxBuffer: limitBytes,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Too long for the buffer, or no git, or one that does not know SHA-256. */
function isExpected(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && (error.code === 'ENOBUFS' || error.code === 'ENOENT')) || 'status' in error;
}

function toSummary({ store, before, after }: DiffedTrees): string {
  const changes = [...diffTrees(store, { before, after })].filter(
    (change) => !isFolder(change.before) && !isFolder(change.after),
  );
  const lines = changes.slice(0, listedPaths).map(({ path, ...entries }) => {
    if (!entries.before) return `A ${toShownPath(path)}`;
    return `${entries.after ? 'M' : 'D'} ${toShownPath(path)}`;
  });
  const more = changes.length - lines.length;
  return [
    `${changes.length} files changed; the diff is too long to show.`,
    ...lines,
    ...(more > 0 ? [`… and ${more} more`] : []),
  ].join('\n');
}
