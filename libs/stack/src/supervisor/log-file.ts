import { closeSync, existsSync, openSync, readSync, renameSync, fstatSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROTATE_BYTES = 20 * 1024 * 1024;
const LONGEST_USUAL_LINE_BYTES = 1024;

/** The log of a process: its stdout and stderr as they came. */
export const logFileOf = (logsDir: string, name: string): string => join(logsDir, `${name}.log`);

/** Opens the log for appending and returns its descriptor. A log over 20 MB becomes `<file>.1` first. */
export function openLog(file: string): number {
  if (existsSync(file) && statSync(file).size > ROTATE_BYTES) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
}

/** The last lines of the log, fewer when lines are much longer than 1 KB on average; empty when there is no log. */
export function readLastLines(file: string, count: number): string[] {
  if (!existsSync(file)) return [];
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const buffer = Buffer.alloc(Math.min(size, (count + 1) * LONGEST_USUAL_LINE_BYTES));
    readSync(descriptor, buffer, 0, buffer.length, size - buffer.length);
    const lines = buffer.toString('utf8').split('\n');
    if (size > buffer.length) lines.shift();
    return lines.filter((line) => line.trim() !== '').slice(-count);
  } finally {
    closeSync(descriptor);
  }
}
