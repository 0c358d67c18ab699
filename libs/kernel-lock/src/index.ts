// A lock between processes of one machine that the kernel gives back when its holder ends, however it ends.
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

/** Held until released or until this process ends, whether or not anybody keeps this object. `release` is idempotent. */
export type KernelLock = { release(): void };

/** A lock whose object nobody keeps would be given back by the garbage collector. */
const held = new Set<DatabaseSync>();

const sqliteBusy = 5;
const retryMs = 50;

/**
 * Takes the lock on `file` (created when absent, its folder must exist), or returns undefined while another holder has it, in this process
 * or in another. It is an exclusive SQLite transaction that is never committed.
 * @throws Error of one sentence that names the file, with the system's error as its cause, when the file cannot be used at all
 */
export function tryLock(file: string): KernelLock | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    database.exec('BEGIN EXCLUSIVE');
    return hold(database);
  } catch (error) {
    database?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy) return undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The lock file ${file} cannot be used (${reason}): delete it or repair its permissions.`,
      { cause: error },
    );
  }
}

function hold(database: DatabaseSync): KernelLock {
  held.add(database);
  return {
    release: () => {
      if (held.delete(database)) database.close();
    },
  };
}

/** Waits until the lock is free and takes it. Rejects with the signal's reason when aborted first. @throws as `tryLock` */
export async function waitForLock(file: string, signal?: AbortSignal): Promise<KernelLock> {
  for (;;) {
    const lock = tryLock(file);
    if (lock) return lock;
    await delay(retryMs, undefined, signal === undefined ? {} : { signal });
  }
}
