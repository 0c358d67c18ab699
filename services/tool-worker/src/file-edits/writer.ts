// writer.ts: writes planned edits so that a reader, and a crash at any moment, sees the old file or the new one, never a part.
// W1  New content is complete and on the disk under the plan's draft name before it takes its place in one step.
// W2  The folders that changed are on the disk before the edits are reported as done.
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
  type Stats,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { EditPlan, FileEdit } from './file-edit.ts';

export type WriteReport = {
  done: FileEdit[];
  /** Why it ended before the last edit. */
  error?: unknown;
};

/** Creates missing folders; keeps mode and owner; stops at the first edit that fails. Never throws. */
export function writeEdits({ edits, draft }: Pick<EditPlan, 'edits' | 'draft'>): WriteReport {
  const done: FileEdit[] = [];
  const folders = new Set<string>();
  const failures: unknown[] = [];
  try {
    for (const edit of edits) {
      if (edit.after === null) unlinkSync(edit.target);
      else place(edit.target, { content: edit.after, like: edit.likePath ?? edit.target, draft, folders });
      done.push(edit);
      folders.add(dirname(edit.target));
    }
  } catch (error) {
    failures.push(error);
  }
  try {
    folders.forEach(syncFolder); // W2
  } catch (error) {
    failures.push(error);
  }
  const [error] = failures;
  return { done, ...(error === undefined ? {} : { error }) };
}

type Placement = { content: Buffer; like: string; draft: string; folders: Set<string> };

function place(path: string, { content, like, draft, folders }: Placement): void {
  const folder = dirname(path);
  const made = mkdirSync(folder, { recursive: true });
  if (made !== undefined) for (const parent of toParents(folder, dirname(made))) folders.add(parent);
  const draftPath = join(folder, draft);
  try {
    writeDraft(draftPath, content, statSync(like, { throwIfNoEntry: false }));
    renameSync(draftPath, path); // W1
  } catch (error) {
    rmSync(draftPath, { force: true });
    throw error;
  }
}

/** From `folder` up to `top`, both included. */
function toParents(folder: string, top: string): string[] {
  return folder === top || folder === dirname(folder)
    ? [folder]
    : [folder, ...toParents(dirname(folder), top)];
}

function writeDraft(path: string, content: Buffer, like: Stats | undefined): void {
  const fd = openSync(path, 'wx');
  try {
    for (let at = 0; at < content.length;) at += writeSync(fd, content, at);
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

function syncFolder(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
