import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import type { z } from 'zod';
import { StackError, stackCodes, systemReason } from './stack-error.ts';

// Synchronous on purpose: the files are tiny, and what they say must be on disk before the next thing happens.

let temporaryNames = 0;

function writeTemporary(file: string, value: unknown): string {
  temporaryNames += 1;
  const temporary = `${file}.${process.pid}-${temporaryNames}.tmp`;
  const descriptor = openSync(temporary, 'w', 0o600);
  try {
    writeSync(descriptor, `${JSON.stringify(value, null, 2)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  return temporary;
}

/** Replaces the file in one step (a reader sees the old or the new content), readable by its owner only. */
export function writeJsonFile(file: string, value: unknown): void {
  renameSync(writeTemporary(file, value), file);
}

/** Writes the file unless it exists. Returns false when another process was first; its content is untouched. */
export function createJsonFile(file: string, value: unknown): boolean {
  const temporary = writeTemporary(file, value);
  try {
    linkSync(temporary, file);
    return true;
  } catch (error) {
    if (systemReason(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** The parsed content, or null when the file does not exist. Throws `stack.state-unreadable` for anything else. */
export function readJsonFile<T>(file: string, schema: z.ZodType<T>): T | null {
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    const reason = systemReason(error);
    if (reason === 'ENOENT') return null;
    const problem = reason.startsWith('E') ? reason : 'its content is damaged';
    throw new StackError(
      stackCodes.stateUnreadable,
      `${file} cannot be read (${problem}): restore it, or delete it if you can do without what it holds.`,
      { cause: error },
    );
  }
}

/** Like `readJsonFile`, for files that can be made anew: a damaged one counts as absent. */
export function readDisposableJsonFile<T>(file: string, schema: z.ZodType<T>): T | null {
  try {
    return readJsonFile(file, schema);
  } catch {
    return null;
  }
}
