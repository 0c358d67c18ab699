// file-edit.ts: a planned change of whole files as data: what each was and will be.
import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import type { Digest, FileChange } from '@holdfast/protocol';
import type { PlannedChange } from '../tool.ts';

export type FileEdit = {
  /** Absolute, as the call names it. */
  path: string;
  /** Where the bytes are: `path` with its links resolved. */
  target: string;
  kind: FileChange['kind'];
  before: Buffer | null;
  /** Null: the file goes. */
  after: Buffer | null;
  /** Whose mode and owner the new file takes, when they are not its own. */
  likePath?: string;
};

export type EditPlan = {
  /** In the order of writing. */
  edits: FileEdit[];
  /** One line a file, for people and for the model. */
  summary: string[];
  /** Name of the file, in the folder of each target, that holds new content until it is complete. Belongs to this plan alone. */
  draft: string;
};

/** What is kept in the journal to find out later what became of the plan. */
export type EditEvidence = {
  files: (Pick<FileEdit, 'path' | 'target' | 'kind'> & { before: Digest | null; after: Digest | null })[];
  summary: string[];
  draft: string;
};

export function toPlan(edits: FileEdit[], summary: string[]): EditPlan {
  return { edits, summary, draft: `.holdfast-${randomBytes(8).toString('hex')}.draft` };
}

export function toEvidence({ edits, summary, draft }: EditPlan): EditEvidence {
  const files = edits.map(({ path, target, kind, before, after }) => ({
    path,
    target,
    kind,
    before: toDigest(before),
    after: toDigest(after),
  }));
  return { files, summary, draft };
}

/** What will be written, by the places that are written to. */
export function toPlannedChanges({ files }: EditEvidence): PlannedChange[] {
  return files.map(({ target, before, after }) => ({ path: target, before, after }));
}

export function toChanges(files: readonly Pick<FileEdit, 'path' | 'kind'>[]): FileChange[] {
  return files.map(({ path, kind }) => ({ path, kind }));
}

export function toDigest(bytes: Uint8Array | null): Digest | null {
  return bytes && createHash('sha256').update(bytes).digest('hex');
}

/**
 * The bytes of a file; of a symbolic link, as in git, the path it leads to. Null when there is nothing.
 * @throws Error for a folder or anything else that is no file
 */
export function readState(path: string): Buffer | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return null;
  if (stat.isSymbolicLink()) return Buffer.from(readlinkSync(path));
  if (!stat.isFile()) throw new Error(`${path} is not a file; name another path`);
  return readFileSync(path);
}
