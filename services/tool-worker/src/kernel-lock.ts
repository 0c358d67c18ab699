import { DatabaseSync } from 'node:sqlite';

/** Held until released or until this process ends, however it ends. */
export type KernelLock = { release(): void };

const sqliteBusy = 5;

/**
 * Takes the lock on `file`, whose folder must exist, or returns undefined while somebody else holds it, in this process or another.
 * It is an exclusive SQLite transaction that is never committed, so the kernel gives it back at death.
 * @throws Error when the file cannot be used at all
 */
export function tryLock(file: string): KernelLock | undefined {
  const database = new DatabaseSync(file);
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy) return undefined;
    throw error;
  }
  return { release: () => database.close() };
}
