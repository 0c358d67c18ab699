import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { StackError, stackCodes, systemReason } from './stack-error.ts';

/** A lock that the kernel gives back when its holder ends, however it ends. */
export type KernelLock = { release(): void };

const SQLITE_BUSY = 5;
const RETRY_MS = 50;

/**
 * Takes the lock on `file` (created when absent, its folder must exist), or returns null while another holder has it,
 * in this process or in another. The lock is SQLite's: an exclusive transaction that is never committed.
 */
export function tryLock(file: string): KernelLock | null {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    database.exec('BEGIN EXCLUSIVE');
    const held = database;
    return { release: () => held.close() };
  } catch (error) {
    database?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return null;
    throw new StackError(
      stackCodes.stateUnreadable,
      `The lock file ${file} cannot be used (${systemReason(error)}): delete it or repair its permissions.`,
      { cause: error },
    );
  }
}

/** Waits until the lock is free and takes it. Rejects with the signal's reason when aborted first. */
export async function waitForLock(file: string, signal?: AbortSignal): Promise<KernelLock> {
  for (;;) {
    const lock = tryLock(file);
    if (lock !== null) return lock;
    await delay(RETRY_MS, undefined, signal === undefined ? {} : { signal });
  }
}
