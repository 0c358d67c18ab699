// snapshot.ts: the state of a workspace as a tree of the private git directory.
// S1  A file is read again unless its size, times, inode and mode are those of the last look; a change time that is too fresh to be
//     told from the next one counts as changed.
// S2  Whatever is named `.git` is never looked into, at any depth, nor is the machine's own state.
// S3  What is not kept has an entry all the same: nobody may take its absence from the snapshot for absence from the folder.
import { hash } from 'node:crypto';
import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { toBytePath, toFsPath, type BytePath } from './byte-paths.ts';
import { isOfFileSystem, readContent } from './file-content.ts';
import { createFolderRecord, type FileRecord, type FolderRecord } from './folder-record.ts';
import type { ObjectId, ObjectStore } from './object-store.ts';
import { encodeTree, modes, toType } from './tree.ts';

export type SnapshotLimits = {
  /** Of one file; a larger one is not kept. */
  fileBytes: number;
  /** Of a folder whose name says that a program can make it again; a larger one is not kept. */
  derivedFiles: number;
  /** Of the workspace; a larger one has no snapshot. */
  files: number;
  /** To be read in one look. */
  readBytes: number;
};

const mib = 1024 * 1024;

export const defaultLimits: SnapshotLimits = {
  fileBytes: 50 * mib,
  derivedFiles: 5_000,
  files: 100_000,
  readBytes: 2048 * mib,
};

/** Folders that package managers, compilers and tools fill and can fill again. */
const derivedNames = new Set(
  'node_modules .venv venv target vendor Pods .gradle .terraform .tox .cache .next .nuxt .turbo __pycache__ .mypy_cache bazel-out'.split(
    ' ',
  ),
);

/** Coarse kernel clocks step by up to 10 ms; twice that, and some for the time between the look and the read. */
const freshMs = 50;

/** More than these are written as one file. */
const singleFiles = 20;

/** The workspace cannot have a snapshot; the message is a sentence for the person. */
class TooLarge extends Error {}

export type SnapshotOptions = {
  root: string;
  store: ObjectStore;
  /** Absolute paths of folders that are left out. */
  excluded: readonly string[];
  limits?: SnapshotLimits;
  /** From the last look. */
  record?: FolderRecord | undefined;
};

type Pending = { path: BytePath; file: FileRecord };
type Look = {
  files: number;
  bytes: number;
  pending: Pending[];
  /** The number of files at which the derived folder that is being looked at is given up. */
  derivedEnd: number;
};
/** A derived folder has too many files. */
class TooManyDerived extends Error {}

export class Snapshot {
  readonly #root: BytePath;
  readonly #store: ObjectStore;
  readonly #excluded: ReadonlySet<BytePath>;
  readonly #limits: SnapshotLimits;
  #record: FolderRecord;
  #files = 0;

  constructor({ root, store, excluded, limits = defaultLimits, record }: SnapshotOptions) {
    this.#root = toBytePath(root);
    this.#store = store;
    this.#excluded = new Set(excluded.map(toBytePath));
    this.#limits = limits;
    this.#record = record ?? createFolderRecord(0);
  }

  /** That the last look saw. */
  get files(): number {
    return this.#files;
  }

  get record(): FolderRecord {
    return this.#record;
  }

  /**
   * Looks at the whole workspace and writes what is new.
   * @throws TooLarge
   * @throws Error when the folder is gone or the store cannot be written
   */
  take(): ObjectId {
    const look: Look = { files: 0, bytes: 0, pending: [], derivedEnd: Number.POSITIVE_INFINITY };
    try {
      this.#scan(this.#record, this.#root, look);
      this.#files = look.files;
      const write = () => {
        for (const { path, file } of look.pending) this.#read(path, file);
        return this.#writeTree(this.#record);
      };
      return look.pending.length > singleFiles ? this.#store.inBatch(write) : write();
    } catch (error) {
      this.#record = createFolderRecord(0); // What was seen of a look that failed is not worth keeping.
      throw error;
    }
  }

  #scan(folder: FolderRecord, path: BytePath, look: Look): void {
    const names = readdirSync(toFsPath(path), { encoding: 'latin1' });
    const seen = { files: 0, folders: 0 };
    for (const name of names) {
      const child = `${path}/${name}`;
      if (name === '.git') continue; // S2
      const stat = lstatSync(toFsPath(child), { throwIfNoEntry: false });
      if (!stat) continue;
      const isFolder = toType(stat.mode) === modes.folder;
      if (isFolder && this.#excluded.has(child)) continue; // S2
      if (isFolder && this.#scanFolder(folder, name, { path: child, stat, look })) {
        seen.folders += 1;
        if (folder.files.delete(name)) folder.id = undefined;
      } else {
        seen.files += 1;
        if (!isFolder) this.#see(folder, name, { path: child, stat, look });
        if (folder.folders.size > 0 && folder.folders.delete(name)) folder.id = undefined;
      }
    }
    if (seen.files < folder.files.size || seen.folders < folder.folders.size) removeGone(folder, names);
  }

  /** @returns false when the folder is not kept; it then has an entry among the files */
  #scanFolder(
    parent: FolderRecord,
    name: string,
    { path, stat, look }: { path: BytePath; stat: Stats; look: Look },
  ): boolean {
    const skipped = parent.files.get(name);
    if (skipped && isUnchanged(skipped, stat)) return false;
    const folder = parent.folders.get(name) ?? createFolderRecord(stat.mode);
    if (!this.#fits(folder, name, { path, look })) {
      parent.id = undefined;
      parent.files.set(name, toNotKept(stat));
      return false;
    }
    if (parent.folders.get(name) !== folder || folder.mode !== stat.mode) {
      folder.mode = stat.mode;
      parent.folders.set(name, folder);
      parent.id = undefined;
    }
    if (folder.id === undefined) parent.id = undefined;
    return true;
  }

  /** Looks at a folder; what was counted of one that is not kept is taken back. */
  #fits(folder: FolderRecord, name: string, { path, look }: { path: BytePath; look: Look }): boolean {
    const before = { ...look };
    const pending = look.pending.length;
    const isOutermost = derivedNames.has(name) && look.derivedEnd === Number.POSITIVE_INFINITY;
    if (isOutermost) look.derivedEnd = look.files + this.#limits.derivedFiles;
    try {
      this.#scan(folder, path, look);
      look.derivedEnd = before.derivedEnd;
      return true;
    } catch (error) {
      const isHere = isOutermost && error instanceof TooManyDerived;
      if (!isHere && !isOfFileSystem(error)) throw error; // It cannot be listed, or has gone meanwhile.
      Object.assign(look, before);
      look.pending.length = pending;
      return false;
    }
  }

  #see(
    folder: FolderRecord,
    name: string,
    { path, stat, look }: { path: BytePath; stat: Stats; look: Look },
  ): void {
    look.files += 1;
    if (look.files > look.derivedEnd) throw new TooManyDerived();
    if (look.files > this.#limits.files) {
      throw new TooLarge(
        `undo does not cover ${this.#root}: it has more than ${this.#limits.files} files; start the session in a smaller folder`,
      );
    }
    const known = folder.files.get(name);
    if (known && isUnchanged(known, stat)) return; // S1
    folder.id = undefined;
    const type = toType(stat.mode);
    const keeps = type === modes.link || (type === modes.file && stat.size <= this.#limits.fileBytes);
    if (!keeps) {
      folder.files.set(name, toNotKept(stat)); // S3
      return;
    }
    const file = { ...toSeen(stat), entryMode: type === modes.link ? modes.link : stat.mode, id: '' };
    folder.files.set(name, file);
    look.pending.push({ path, file });
    look.bytes += stat.size;
    if (look.bytes > this.#limits.readBytes) {
      throw new TooLarge(
        `undo does not cover ${this.#root}: more than ${this.#limits.readBytes / mib} MiB changed at once; start the session in a smaller folder`,
      );
    }
  }

  #read(path: BytePath, file: FileRecord): void {
    const readAt = Date.now();
    let content: Buffer;
    try {
      content = readContent(path, file.mode);
    } catch (error) {
      if (!isOfFileSystem(error)) throw error;
      Object.assign(file, { entryMode: modes.notKept, id: toIdentity(file), settled: true });
      return;
    }
    file.id = this.#store.put('blob', content);
    file.settled = file.ctimeMs < readAt - freshMs;
  }

  #writeTree(folder: FolderRecord): ObjectId {
    if (folder.id !== undefined) return folder.id;
    const entries = Array.from(folder.files, ([name, { entryMode, id }]) => ({ name, mode: entryMode, id }));
    for (const [name, child] of folder.folders) {
      entries.push({ name, mode: child.mode, id: this.#writeTree(child) });
    }
    folder.id = this.#store.put('tree', encodeTree(entries));
    return folder.id;
  }
}

function removeGone(folder: FolderRecord, names: readonly string[]): void {
  const left = new Set(names);
  for (const records of [folder.files, folder.folders]) {
    for (const name of records.keys()) if (!left.has(name)) records.delete(name);
  }
  folder.id = undefined;
}

function isUnchanged(file: FileRecord, stat: Stats): boolean {
  return (
    file.settled &&
    file.mode === stat.mode &&
    file.size === stat.size &&
    file.mtimeMs === stat.mtimeMs &&
    file.ctimeMs === stat.ctimeMs &&
    file.ino === stat.ino
  );
}

function toSeen({ mode, size, mtimeMs, ctimeMs, ino }: Stats) {
  return { mode, size, mtimeMs, ctimeMs, ino, settled: false };
}

function toNotKept(stat: Stats): FileRecord {
  return { ...toSeen(stat), entryMode: modes.notKept, id: toIdentity(stat), settled: true };
}

/** Differs when the thing itself does, as far as that can be told without reading it. */
function toIdentity({
  mode,
  size,
  mtimeMs,
  ino,
}: Pick<Stats, 'mode' | 'size' | 'mtimeMs' | 'ino'>): ObjectId {
  return hash('sha256', JSON.stringify([mode, size, mtimeMs, ino]));
}
