import { readdirSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { assertStateFolderUsable, type StackPaths } from './paths.ts';
import { readRecord } from './process-record.ts';
import { logFileOf, readLastLines } from './supervisor/log-file.ts';

/** One line that a process wrote. `process` is its name, which roles may share. */
export type LogLine = { process: string; line: string };

export type TailOptions = {
  /** Only the process with this role (or name); all processes when absent. */
  role?: string;
  /** Go on with new lines until `signal` aborts; otherwise the sequence ends after the last lines. */
  follow: boolean;
  signal?: AbortSignal;
  /** How many of the last lines of each process come first. */
  lines?: number;
};

const DEFAULT_LINES = 50;
const POLL_MS = 200;

/** The logs of the stack, also while it is down. Lines of one process are in order; processes are not merged by time. */
export async function* tailLogs(paths: StackPaths, options: TailOptions): AsyncGenerator<LogLine> {
  await assertStateFolderUsable(paths);
  const positions = new Map<string, LogPosition>();
  for (const name of listLogs(paths, options.role)) {
    const file = logFileOf(paths.logsDir, name);
    positions.set(name, { offset: await sizeOf(file), rest: '' });
    for (const line of readLastLines(file, options.lines ?? DEFAULT_LINES)) yield { process: name, line };
  }
  while (options.follow && options.signal?.aborted !== true) {
    for (const name of listLogs(paths, options.role)) {
      const position = positions.get(name) ?? { offset: 0, rest: '' };
      positions.set(name, position);
      for (const line of await readNewLines(logFileOf(paths.logsDir, name), position))
        yield { process: name, line };
    }
    await delay(POLL_MS, undefined, options.signal === undefined ? {} : { signal: options.signal }).catch(
      () => undefined,
    );
  }
}

type LogPosition = { offset: number; rest: string };

/** Lines that were completed since the last look; a shorter file was rotated and is read from its beginning. */
async function readNewLines(file: string, position: LogPosition): Promise<string[]> {
  const size = await sizeOf(file);
  if (size < position.offset) Object.assign(position, { offset: 0, rest: '' });
  if (size === position.offset) return [];
  const handle = await open(file, 'r');
  try {
    const buffer = Buffer.alloc(size - position.offset);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position.offset);
    position.offset += bytesRead;
    const lines = (position.rest + buffer.toString('utf8', 0, bytesRead)).split('\n');
    position.rest = lines.pop() ?? '';
    return lines;
  } finally {
    await handle.close();
  }
}

function listLogs(paths: StackPaths, role: string | undefined): string[] {
  const wanted = role === undefined ? null : toProcessName(paths, role);
  const names = readNames(paths.logsDir);
  return wanted === null ? names : names.filter((name) => name === wanted);
}

function toProcessName(paths: StackPaths, role: string): string {
  const processes = readRecord(paths.recordFile)?.processes ?? [];
  return processes.find((recorded) => recorded.roles.includes(role))?.name ?? role;
}

function readNames(logsDir: string): string[] {
  try {
    return readdirSync(join(logsDir))
      .filter((name) => name.endsWith('.log'))
      .map((name) => basename(name, '.log'))
      .toSorted();
  } catch {
    return [];
  }
}

const sizeOf = async (file: string): Promise<number> => (await stat(file).catch(() => ({ size: 0 }))).size;
