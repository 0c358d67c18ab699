// tree.ts: the entries of a folder and of the folders in it, each folder directly in front of what it holds.
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cut } from '../../files/text-file.ts';

const nameLimit = 500;

/** `depth` 0 is directly in the folder. */
export type TreeEntry = { depth: number; name: string; mark: '/' | '@' | '?' | '' };

/**
 * Names in code point order. Folders that cannot be read are shown without what they hold. Links are not followed.
 * @throws Error of the file system for the folder itself; the signal's reason after an abort
 */
export async function* listTree(
  folder: string,
  options: { levels: number; signal: AbortSignal },
): AsyncGenerator<TreeEntry> {
  yield* list(await readdir(folder, { withFileTypes: true }), { ...options, depth: 0, folder });
}

async function* list(
  entries: Dirent[],
  at: { levels: number; signal: AbortSignal; depth: number; folder: string },
): AsyncGenerator<TreeEntry> {
  at.signal.throwIfAborted();
  const { depth } = at;
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    yield { depth, name: toPrintable(entry.name), mark: toMark(entry) };
    if (!entry.isDirectory() || depth + 1 >= at.levels) continue;
    const folder = join(at.folder, entry.name);
    const inner = await readdir(folder, { withFileTypes: true }).catch(() => []);
    yield* list(inner, { ...at, depth: depth + 1, folder });
  }
}

/** One entry is one line. */
function toPrintable(name: string): string {
  return cut(name, nameLimit).replaceAll(/\p{Cc}/gu, '?');
}

function toMark(entry: Dirent): TreeEntry['mark'] {
  if (entry.isDirectory()) return '/';
  if (entry.isSymbolicLink()) return '@';
  return entry.isFile() ? '' : '?';
}
