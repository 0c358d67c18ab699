// plan.ts: a parsed patch against the files as they are: what each file was and will be. Reads, never writes.
// A1  Everything is verified before anything is written: a patch that does not fit changes nothing.
// A2  A file is named by one hunk only.
import { statSync } from 'node:fs';
import { readState, toPlan, type EditPlan, type FileEdit } from '../../file-edits/file-edit.ts';
import { locate, type Scope } from '../../file-edits/location.ts';
import { applyChunks } from './matcher.ts';
import { PatchError, type Hunk, type Patch } from './patch.ts';

/** @throws Error with a message for the model */
export function planPatch(patch: Patch, scope: Scope): EditPlan {
  const plans = patch.hunks.map((hunk) => planHunk(hunk, scope));
  const edits = plans.flatMap((plan) => plan.edits);
  assertDistinct(edits); // A2
  const summary = plans.map((plan) => plan.line).toSorted((left, right) => toRank(left) - toRank(right));
  return toPlan(edits, summary);
}

/** Links make two names of one file. */
function assertDistinct(edits: readonly FileEdit[]): void {
  const seen = new Set<string>();
  for (const { path, target } of edits) {
    if (seen.has(path) || seen.has(target)) throw new PatchError(`multiple operations target ${path}`);
    seen.add(path).add(target);
  }
}

/** `line` is `A path` and so on, as the patch names the file. */
type HunkPlan = { edits: FileEdit[]; line: string };

function planHunk(hunk: Hunk, scope: Scope): HunkPlan {
  switch (hunk.kind) {
    case 'add':
      return planAdd(hunk, scope);
    case 'delete':
      return { edits: [planRemoval(hunk.path, scope)], line: `D ${hunk.path}` };
    case 'update':
      return planUpdate(hunk, scope);
  }
}

function planAdd({ path, lines }: Extract<Hunk, { kind: 'add' }>, scope: Scope): HunkPlan {
  const place = locate(scope, path, { of: 'content' });
  const after = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  return {
    edits: [{ ...place, kind: 'add', before: readState(place.target), after }],
    line: `A ${path}`,
  };
}

/** A link goes itself, not what it leads to; but it must lead to a file. */
function planRemoval(path: string, scope: Scope): FileEdit {
  const place = locate(scope, path, { of: 'self' });
  const stat = statSync(place.target, { throwIfNoEntry: false });
  if (stat?.isDirectory()) throw new PatchError(`${place.path} is not a file; name another path`);
  if (!stat) throw toMissing(place.path, 'delete');
  return { ...place, kind: 'delete', before: readState(place.target), after: null };
}

function planUpdate(hunk: Extract<Hunk, { kind: 'update' }>, scope: Scope): HunkPlan {
  const source = locate(scope, hunk.path, { of: 'content' });
  const before = readState(source.target);
  if (!before) throw toMissing(source.path, 'update');
  const after = Buffer.from(applyChunks(toUtf8(before, source.path), hunk.chunks, source.path));
  const inPlace: HunkPlan = {
    edits: [{ ...source, kind: 'update', before, after }],
    line: `M ${hunk.path}`,
  };
  if (hunk.moveTo === undefined) return inPlace;
  const place = locate(scope, hunk.moveTo, { of: 'content' });
  const removal = planRemoval(hunk.path, scope);
  if (place.target === removal.target) return inPlace;
  return {
    edits: [
      { ...place, kind: 'add', before: readState(place.target), after, likePath: source.target },
      removal,
    ],
    line: `M ${hunk.moveTo}`,
  };
}

function toMissing(path: string, purpose: 'update' | 'delete'): PatchError {
  return new PatchError(`Failed to read file to ${purpose} ${path}: there is no such file`);
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
