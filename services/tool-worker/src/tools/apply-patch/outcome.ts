// outcome.ts: what became of a patch whose worker died, told by the files alone.
import { readFileSync } from 'node:fs';
import { toDigest, type PatchEvidence } from './plan.ts';

export type PatchOutcome =
  /** Every file is as the patch wanted it. */
  | { kind: 'applied' }
  /** Every file is as it was before. */
  | { kind: 'untouched' }
  /** One sentence a file. */
  | { kind: 'mixed'; known: string };

type FileState = 'as the patch makes it' | 'as it was before' | 'neither as before nor as the patch makes it';

export function inspectPatch(evidence: PatchEvidence): PatchOutcome {
  const files = evidence.files.map((file) => ({ ...file, now: readDigest(file.path) }));
  if (files.every((file) => file.now === file.after)) return { kind: 'applied' };
  if (files.every((file) => file.now === file.before)) return { kind: 'untouched' };
  return { kind: 'mixed', known: files.map((file) => `${file.path} is ${toState(file)}.`).join(' ') };
}

type Inspected = PatchEvidence['files'][number] & { now: string | null };

function toState({ now, before, after }: Inspected): FileState {
  if (now === after) return 'as the patch makes it';
  return now === before ? 'as it was before' : 'neither as before nor as the patch makes it';
}

/** A file that cannot be read is like no file that was known. */
function readDigest(path: string): string | null {
  try {
    return toDigest(readFileSync(path));
  } catch (error) {
    return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
      ? null
      : 'unreadable';
  }
}
