// writer.ts: writes one planned edit so that a reader, and a crash, sees the old file or the new one, never a part.
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
  type Stats,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { FileEdit } from './plan.ts';

/** Creates missing folders; keeps mode and owner; a link stays a link. @throws Error of the file system */
export function writeEdit(edit: FileEdit): void {
  if (edit.after === null) return rmSync(edit.path);
  const path = edit.before === null ? edit.path : realpathSync(edit.path);
  const like = statSync(edit.likePath ?? path, { throwIfNoEntry: false });
  mkdirSync(dirname(path), { recursive: true });
  const draft = join(dirname(path), `.${basename(path).slice(0, 200)}.holdfast-patch`);
  try {
    writeDraft(draft, edit.after, like);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function writeDraft(draft: string, bytes: Buffer, like: Stats | undefined): void {
  rmSync(draft, { force: true });
  const fd = openSync(draft, 'wx');
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
    if (like) copyAccess(fd, like);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function copyAccess(fd: number, like: Stats): void {
  const own = process.getuid?.();
  if (own === 0 || like.uid !== own) {
    try {
      fchownSync(fd, like.uid, like.gid);
    } catch {
      // Only the owner of the machine may give files away; the content matters more.
    }
  }
  fchmodSync(fd, like.mode & 0o7777);
}
