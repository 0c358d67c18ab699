// folder-record.ts: what the last look at a workspace saw, so that the next one reads only what changed.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { ObjectId } from './object-store.ts';

export type FileRecord = {
  /** As `lstat` gives it, with the type. */
  mode: number;
  size: number;
  mtimeMs: number;
  ctimeMs: number;
  ino: number;
  /** Of the entry in the tree. */
  entryMode: number;
  /** Empty: not read yet. */
  id: ObjectId;
  /** False: it changed so shortly before it was read that a later change could bear the same time. */
  settled: boolean;
};

export type FolderRecord = {
  mode: number;
  /** By name, one character a byte; everything that is not a folder, and folders that are not kept. */
  files: Map<string, FileRecord>;
  folders: Map<string, FolderRecord>;
  /** Undefined: something in it changed since its tree was written. */
  id: ObjectId | undefined;
};

export function createFolderRecord(mode: number): FolderRecord {
  return { mode, files: new Map(), folders: new Map(), id: undefined };
}

/** The layout of the file; another one is as good as none. */
const version = 1;

type SavedFile = [string, number, number, number, number, number, number, string, 0 | 1];
type SavedFolder = { m: number; i: string | undefined; f: SavedFile[]; d: [string, SavedFolder][] };

/** Replaces the file as a whole. */
export function saveRecord(file: string, folder: FolderRecord): void {
  writeFileSync(`${file}.new`, JSON.stringify({ version, folder: toSaved(folder) }), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** @returns undefined when there is no file, or none that can be used: the workspace is then read anew */
export function loadRecord(file: string): FolderRecord | undefined {
  try {
    const saved = JSON.parse(readFileSync(file, 'utf8')) as { version: number; folder: SavedFolder };
    return saved.version === version ? toRecord(saved.folder) : undefined;
  } catch {
    return undefined;
  }
}

function toSaved(folder: FolderRecord): SavedFolder {
  return {
    m: folder.mode,
    i: folder.id,
    f: Array.from(folder.files, ([name, file]) => [
      name,
      file.mode,
      file.size,
      file.mtimeMs,
      file.ctimeMs,
      file.ino,
      file.entryMode,
      file.id,
      file.settled ? 1 : 0,
    ]),
    d: Array.from(folder.folders, ([name, child]) => [name, toSaved(child)]),
  };
}

function toRecord(saved: SavedFolder): FolderRecord {
  const files = saved.f.map(([name, mode, size, mtimeMs, ctimeMs, ino, entryMode, id, settled]) => {
    const file: FileRecord = { mode, size, mtimeMs, ctimeMs, ino, entryMode, id, settled: settled === 1 };
    return [name, file] as const;
  });
  const folders = saved.d.map(([name, child]) => [name, toRecord(child)] as const);
  return { mode: saved.m, files: new Map(files), folders: new Map(folders), id: saved.i };
}
