// outcome.ts: what became of planned edits whose worker died, told by the files alone.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readState, toDigest, type EditEvidence } from './file-edit.ts';

export type EditOutcome =
  /** Every file is as planned. */
  | { kind: 'applied' }
  /** Every file is as it was before. */
  | { kind: 'untouched' }
  /** One sentence a file. */
  | { kind: 'mixed'; known: string };

/** Removes the draft that the dead worker may have left. */
export function inspectEdits({ files, draft }: EditEvidence): EditOutcome {
  for (const { target, after } of files) if (after !== null) removeDraft(join(dirname(target), draft));
  const inspected = files.map((file) => ({ ...file, now: readDigest(file.target) }));
  if (inspected.every((file) => file.now === file.after)) return { kind: 'applied' };
  if (inspected.every((file) => file.now === file.before)) return { kind: 'untouched' };
  return { kind: 'mixed', known: inspected.map((file) => `${file.path} ${toState(file)}.`).join(' ') };
}

type Inspected = EditEvidence['files'][number] & { now: string | null };

function toState({ now, before, after }: Inspected): string {
  if (now === after) return after === null ? 'is gone, as wanted' : 'is as wanted';
  if (now === before) return before === null ? 'does not exist yet' : 'is as it was before';
  return now === null ? 'does not exist' : 'is neither as before nor as wanted';
}

/** What cannot be read is like nothing that was known. */
function readDigest(path: string): string | null {
  try {
    return toDigest(readState(path));
  } catch {
    return 'unreadable';
  }
}

/** One that cannot be removed does not change the outcome. */
function removeDraft(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    return;
  }
}
