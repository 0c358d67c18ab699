// plan.ts: a parsed patch against the files as they are: what each file was and will be. Reads, never writes.
// A1  Everything is verified before anything is written: a patch that does not fit changes nothing.
// A2  A file is named by one hunk only.
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Digest, FileChange } from '@holdfast/protocol';
import { applyChunks } from './matcher.ts';
import { PatchError, type Hunk, type Patch } from './patch.ts';

export type FileEdit = {
  /** Absolute. */
  path: string;
  before: Buffer | null;
  /** Null: the file goes. */
  after: Buffer | null;
  /** Whose mode the new file takes, when it is not its own. */
  likePath?: string;
};

export type PatchPlan = {
  /** In the order of writing. */
  edits: FileEdit[];
  changes: FileChange[];
  /** `A path` and so on, as the patch names the files. */
  summary: string[];
};

/** What is kept in the journal to find out later what became of the plan. */
export type PatchEvidence = {
  files: { path: string; before: Digest | null; after: Digest | null }[];
  changes: FileChange[];
  summary: string[];
};

/** @throws PatchError */
export function planPatch(patch: Patch, cwd: string): PatchPlan {
  const plans = patch.hunks.map((hunk) => planHunk(hunk, (path) => resolve(cwd, path)));
  const edits = plans.flatMap((plan) => plan.edits);
  const seen = new Set<string>();
  for (const { path } of edits) {
    if (seen.has(path)) throw new PatchError(`multiple operations target ${path}`); // A2
    seen.add(path);
  }
  const summary = plans
    .flatMap((plan) => plan.summary)
    .toSorted((left, right) => toRank(left) - toRank(right));
  return { edits, changes: plans.flatMap((plan) => plan.changes), summary };
}

export function toEvidence({ edits, changes, summary }: PatchPlan): PatchEvidence {
  const files = edits.map(({ path, before, after }) => ({
    path,
    before: toDigest(before),
    after: toDigest(after),
  }));
  return { files, changes, summary };
}

export function toDigest(bytes: Uint8Array | null): Digest | null {
  return bytes && createHash('sha256').update(bytes).digest('hex');
}

/** Null when there is no such file. */
function readIfThere(path: string): Buffer | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return null;
  if (!stat.isFile()) throw new PatchError(`${path} is not a file`);
  return readFileSync(path);
}

type HunkPlan = PatchPlan;

function planHunk(hunk: Hunk, toAbsolute: (path: string) => string): HunkPlan {
  const path = toAbsolute(hunk.path);
  switch (hunk.kind) {
    case 'add':
      return {
        edits: [
          {
            path,
            before: readIfThere(path),
            after: Buffer.from(hunk.lines.map((line) => `${line}\n`).join('')),
          },
        ],
        changes: [{ path, kind: 'add' }],
        summary: [`A ${hunk.path}`],
      };
    case 'delete':
      return {
        edits: [{ path, before: readExisting(path, 'delete'), after: null }],
        changes: [{ path, kind: 'delete' }],
        summary: [`D ${hunk.path}`],
      };
    case 'update':
      return planUpdate(hunk, path, toAbsolute);
  }
}

function planUpdate(
  hunk: Extract<Hunk, { kind: 'update' }>,
  path: string,
  toAbsolute: (path: string) => string,
): HunkPlan {
  const before = readExisting(path, 'update');
  const after =
    hunk.chunks.length === 0 ? before : Buffer.from(applyChunks(toUtf8(before, path), hunk.chunks, path));
  const target = hunk.moveTo === undefined ? path : toAbsolute(hunk.moveTo);
  if (target === path) {
    return {
      edits: [{ path, before, after }],
      changes: [{ path, kind: 'update' }],
      summary: [`M ${hunk.path}`],
    };
  }
  return {
    edits: [
      { path: target, before: readIfThere(target), after, likePath: path },
      { path, before, after: null },
    ],
    changes: [
      { path: target, kind: 'add' },
      { path, kind: 'delete' },
    ],
    summary: [`M ${hunk.moveTo}`],
  };
}

function readExisting(path: string, purpose: 'update' | 'delete'): Buffer {
  const bytes = readIfThere(path);
  if (!bytes) throw new PatchError(`Failed to read file to ${purpose} ${path}: there is no such file`);
  return bytes;
}

function toUtf8(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new PatchError(`Failed to read file to update ${path}: it is not UTF-8 text`);
  }
}

/** Added, modified, deleted. */
function toRank(line: string): number {
  return 'AMD'.indexOf(line.charAt(0));
}
