// tree.ts: one folder of a snapshot, as a git tree object.
// T1  Modes keep all their bits: git reads 100600 as 100644, so the object stays a valid tree, and undo sees the real mode.
// T2  An empty folder is an empty tree.
// T3  What is there but not kept (too large, special, unreadable) is a gitlink: a name and an identity without content.
import type { ObjectId, ObjectStore } from './object-store.ts';

/** `name` is the bytes of the file's name, one character a byte. */
export type TreeEntry = { name: string; mode: number; id: ObjectId };

export const modes = {
  type: 0o170000,
  folder: 0o040000,
  file: 0o100000,
  link: 0o120000,
  /** T3 */
  notKept: 0o160000,
} as const;

export function toType(mode: number): number {
  return mode & modes.type;
}

export function isFolder(entry: TreeEntry | undefined): boolean {
  return entry !== undefined && toType(entry.mode) === modes.folder;
}

/** In any order; the names must differ. */
export function encodeTree(entries: readonly TreeEntry[]): Buffer {
  const sorted = entries
    .map((entry) => ({ entry, key: isFolder(entry) ? `${entry.name}/` : entry.name }))
    .toSorted((left, right) => (left.key < right.key ? -1 : 1));
  const parts = sorted.flatMap(({ entry }) => [
    Buffer.from(`${entry.mode.toString(8)} ${entry.name}\0`, 'latin1'),
    Buffer.from(entry.id, 'hex'),
  ]);
  return Buffer.concat(parts);
}

const idBytes = 32;

function decodeTree(bytes: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    entries.push({
      mode: Number.parseInt(bytes.toString('latin1', at, space), 8),
      name: bytes.toString('latin1', space + 1, end),
      id: bytes.toString('hex', end + 1, end + 1 + idBytes),
    });
    at = end + 1 + idBytes;
  }
  return entries;
}

/** One path that differs; `path` is relative, with `/`, one character a byte. A folder counts by its mode alone. */
export type TreeChange = { path: string; before: TreeEntry | undefined; after: TreeEntry | undefined };

/** A folder comes before what is in it. @throws Error when an object is missing or damaged */
export function* diffTrees(
  store: Pick<ObjectStore, 'read'>,
  trees: { before: ObjectId | undefined; after: ObjectId | undefined },
  prefix = '',
): Generator<TreeChange> {
  if (trees.before === trees.after) return;
  const [before, after] = [trees.before, trees.after].map((id) => readEntries(store, id));
  for (const name of new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])) {
    const [left, right] = [before?.get(name), after?.get(name)];
    const path = prefix + name;
    if (!isSame(left, right)) yield { path, before: left, after: right };
    const ids = { before: toFolderId(left), after: toFolderId(right) };
    yield* diffTrees(store, ids, `${path}/`);
  }
}

/** Whether undo has nothing to do for this path itself. */
export function isSame(left: TreeEntry | undefined, right: TreeEntry | undefined): boolean {
  if (left?.mode !== right?.mode) return false;
  return isFolder(left) || left?.id === right?.id;
}

/** @returns undefined when there is nothing at this path */
export function readEntry(
  store: Pick<ObjectStore, 'read'>,
  tree: ObjectId,
  path: string,
): TreeEntry | undefined {
  const [name = '', ...rest] = path.split('/');
  const entry = readEntries(store, tree).get(name);
  if (rest.length === 0) return entry;
  const folder = toFolderId(entry);
  return folder === undefined ? undefined : readEntry(store, folder, rest.join('/'));
}

function readEntries(store: Pick<ObjectStore, 'read'>, id: ObjectId | undefined): Map<string, TreeEntry> {
  const entries = id === undefined ? [] : decodeTree(store.read('tree', id));
  return new Map(entries.map((entry) => [entry.name, entry]));
}

function toFolderId(entry: TreeEntry | undefined): ObjectId | undefined {
  return entry !== undefined && isFolder(entry) ? entry.id : undefined;
}
