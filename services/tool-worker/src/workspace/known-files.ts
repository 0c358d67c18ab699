// known-files.ts: notices that a file is not any more what a session last saw of it, so that nothing is overwritten unseen.
// K1  Known is what a tool of the session read or wrote; a file that it never named is not watched.
// K2  What changes while a call of the session runs counts as its own change, unless another session declared it.
// K3  The session is told once of each change; what it does then is its decision.
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import type { PlannedChange } from '../tool.ts';
import type { KnownFile, Ledger } from './ledger.ts';

export class KnownFiles {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** To be called while no call of the session runs: what changed since the last one came from outside. */
  findStale(sessionId: string): void {
    for (const { file, stamp, digest } of this.#listChanged(sessionId)) {
      this.#ledger.setKnown(sessionId, { ...file, stamp, stale: digest !== file.digest });
    }
  }

  /** To be called when a call of the session has ended. */
  adopt(sessionId: string): void {
    for (const { file, stamp, digest } of this.#listChanged(sessionId)) {
      this.#ledger.setKnown(sessionId, { ...file, stamp, digest }); // K2
    }
  }

  /** @returns the paths that are not what the session last saw; they count as seen from now on (K3) */
  findConflicts(sessionId: string, files: readonly PlannedChange[]): string[] {
    const known = new Map(this.#ledger.listKnown(sessionId).map((file) => [file.path, file]));
    const changed = files.filter(({ path, before }) => {
      const file = known.get(path);
      return file !== undefined && file.digest !== before;
    });
    for (const { path, before } of changed) this.#set(sessionId, path, () => before);
    return changed.map(({ path }) => path);
  }

  /** A file that changed again since it was read is known to be another one. @returns what is known */
  noteRead(sessionId: string, { path, stamp }: { path: string; stamp: string }): string | null {
    const now = readDigest(path);
    const stale = toStamp(path) !== stamp;
    const digest = stale ? changed : now;
    this.#ledger.setKnown(sessionId, { path, digest, stale, stamp });
    return digest;
  }

  /** A call that planned these changes has ended, one way or the other. */
  noteWritten(sessionId: string, files: readonly PlannedChange[]): void {
    for (const { path, before, after } of files) {
      const digest = this.#set(sessionId, path, (now) => (now === before ? before : after));
      this.#ledger.markStale(path, { sessionId, digest });
    }
  }

  /** The stamp comes first: a change that follows it shows in the content or in the next stamp. */
  #set(sessionId: string, path: string, toKnown: (now: string | null) => string | null): string | null {
    const stamp = toStamp(path);
    const now = readDigest(path);
    const digest = toKnown(now);
    this.#ledger.setKnown(sessionId, { path, digest, stale: now !== digest, stamp });
    return digest;
  }

  #listChanged(sessionId: string): { file: KnownFile; stamp: string; digest: string | null }[] {
    return this.#ledger.listKnown(sessionId).flatMap((file) => {
      const stamp = file.stale ? file.stamp : toStamp(file.path);
      return stamp === file.stamp ? [] : [{ file, stamp, digest: readDigest(file.path) }];
    });
  }
}

/** Stands for a content that nobody has any more. */
const changed = 'changed';

/** Differs when the file does; empty when there is none. */
export function toStamp(path: string): string {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat ? [stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs].join(':') : '';
}

/** Of the content; of a link, the path it leads to. Null when there is nothing that can be read. */
function readDigest(path: string): string | null {
  try {
    const isLink = lstatSync(path).isSymbolicLink();
    const content = isLink ? readlinkSync(path) : readFileSync(path);
    return createHash('sha256').update(content).digest('hex');
  } catch {
    return null;
  }
}
