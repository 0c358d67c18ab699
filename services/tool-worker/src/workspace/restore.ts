// restore.ts: puts paths of a workspace back, exactly: content, type, mode, links, empty folders.
// R1  Nothing is touched before everything that is needed has been found whole.
// R2  A file is written beside its place and renamed, so that it is the old one or the new one.
// R3  No path is followed through a link, and nothing named `.git` is ever removed.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { toBytePath, toFsPath, type BytePath } from './byte-paths.ts';
import type { ObjectStore } from './object-store.ts';
import { isFolder, modes, toType, type TreeEntry } from './tree.ts';
import type { Restoration } from './undo-plan.ts';

const permissions = 0o7777;
const ownerAll = 0o700;
const draftName = '.holdfast-undo';

/** `path` is relative, one character a byte; `reason` completes the sentence "<path>: …". */
export type LeftPath = { path: string; reason: string };

type Contents = Pick<ObjectStore, 'read'>;

/** @throws Error when the snapshot is damaged (nothing was touched then) or a path cannot be written */
export function restorePaths(options: {
  root: string;
  store: Contents;
  restorations: readonly Restoration[];
}): LeftPath[] {
  const { store, restorations } = options;
  const root = toBytePath(options.root);
  for (const { target } of restorations) if (target && !isFolder(target)) store.read('blob', target.id); // R1
  const parents = new OpenedParents(root);
  const left: LeftPath[] = [];
  const inOrder = restorations.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  for (const restoration of inOrder.toReversed()) {
    if (!parents.open(restoration.path, { create: false })) continue;
    const reason = clear(`${root}/${restoration.path}`, restoration);
    if (reason !== undefined) left.push({ path: restoration.path, reason });
  }
  for (const { path, target, now } of inOrder) {
    if (!target || left.some((entry) => entry.path === path)) continue;
    if (parents.open(path, { create: true })) write(`${root}/${path}`, { target, now, store });
    else left.push({ path, reason: 'a folder above it is not a folder any more' });
  }
  for (const { path, target } of restorations) {
    if (target && isFolder(target)) parents.setMode(`${root}/${path}`, target.mode & permissions);
  }
  parents.close();
  return left;
}

/** Takes away what has another type than the target. @returns why it stays, when it does */
function clear(path: BytePath, { target, now }: Restoration): string | undefined {
  const stat = lstatSync(toFsPath(path), { throwIfNoEntry: false });
  if (!stat || (target && toType(stat.mode) === toType(target.mode))) return undefined;
  if (!stat.isDirectory()) {
    rmSync(toFsPath(path));
    return undefined;
  }
  if (target || !isFolder(now)) {
    if (holdsRepository(path)) return 'it holds a repository, which undo never removes'; // R3
    rmSync(toFsPath(path), { recursive: true });
    return undefined;
  }
  try {
    rmdirSync(toFsPath(path));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOTEMPTY')) throw error;
    return 'it holds something that the session did not make, or a repository';
  }
  return undefined;
}

function holdsRepository(folder: BytePath): boolean {
  return readdirSync(toFsPath(folder), { encoding: 'latin1' }).some((name) => {
    const path = `${folder}/${name}`;
    return name === '.git' || (isFolderNow(path) && holdsRepository(path));
  });
}

function write(
  path: BytePath,
  { target, now, store }: Omit<Restoration, 'path' | 'target'> & { target: TreeEntry; store: Contents },
): void {
  const isMade = isFolderNow(path);
  if (isFolder(target)) {
    if (!isMade) mkdirSync(toFsPath(path), { mode: ownerAll });
    return;
  }
  const isLink = toType(target.mode) === modes.link;
  if (!isLink && now?.id === target.id && toType(now.mode) === modes.file) {
    return chmodSync(toFsPath(path), target.mode & permissions);
  }
  const content = store.read('blob', target.id);
  const draft = toFsPath(`${path.slice(0, path.lastIndexOf('/'))}/${draftName}`);
  rmSync(draft, { force: true });
  if (isLink) {
    symlinkSync(content, draft);
  } else {
    writeFileSync(draft, content, { flag: 'wx', mode: 0o600, flush: true });
    chmodSync(draft, target.mode & permissions);
  }
  renameSync(draft, toFsPath(path)); // R2
}

function isFolderNow(path: BytePath): boolean {
  return lstatSync(toFsPath(path), { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** The folders above what is put back: made where they are missing, writable for that time. */
class OpenedParents {
  readonly #root: BytePath;
  /** To be set in the end. */
  readonly #modes = new Map<BytePath, number>();

  constructor(root: BytePath) {
    this.#root = root;
  }

  /** @returns false when something above the path is missing or not a folder (R3) */
  open(path: string, { create }: { create: boolean }): boolean {
    let folder = this.#root;
    for (const name of path.split('/').slice(0, -1)) {
      folder = `${folder}/${name}`;
      const stat = lstatSync(toFsPath(folder), { throwIfNoEntry: false });
      if (stat ? !stat.isDirectory() : !create) return false;
      if (!stat) {
        mkdirSync(toFsPath(folder));
      } else if ((stat.mode & ownerAll) !== ownerAll) {
        this.#modes.set(folder, stat.mode & permissions);
        chmodSync(toFsPath(folder), (stat.mode & permissions) | ownerAll);
      }
    }
    return true;
  }

  setMode(folder: BytePath, mode: number): void {
    this.#modes.set(folder, mode);
  }

  /** What is deepest comes first: a folder may close the way to those in it. */
  close(): void {
    const deepestFirst = [...this.#modes].toSorted(([one], [other]) => (one < other ? 1 : -1));
    for (const [folder, mode] of deepestFirst) if (isFolderNow(folder)) chmodSync(toFsPath(folder), mode);
  }
}
