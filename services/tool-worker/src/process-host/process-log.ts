// process-log.ts: what is kept of every process on disk, as one file that is only appended to: that it was about to start, how it ended,
// that it may be forgotten. A file and a folder for each process would cost more than starting it.
// F1  The start is written before the process is spawned, so a key that is in the log may have had an effect.
// F2  What was appended survives the death of this process, not a crash of the system; whoever asks must know of the latter.
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessExit } from './protocol.ts';

export type ProcessRecord = { key: string; startedAt: number; exit?: ProcessExit };

type Line =
  | { type: 'start'; key: string; startedAt: number }
  | { type: 'exit'; key: string; exit: ProcessExit }
  | { type: 'forget'; key: string };

/** The file is written anew without what was forgotten when it has this many lines more than it needs. */
const surplusLimit = 5_000;

export class ProcessLog {
  readonly #folder: string;
  readonly #records: Map<string, ProcessRecord>;
  #surplus = 0;
  #isTorn = false;
  #fd: number;

  /** Creates the folder when it is absent; only one process may have it open. */
  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#records = readLog(folder);
    this.#fd = this.#writeAnew();
  }

  get(key: string): ProcessRecord | undefined {
    return this.#records.get(key);
  }

  keys(): string[] {
    return [...this.#records.keys()];
  }

  /** @throws Error of the file system; the process must not be started then */
  start(key: string, startedAt: number): void {
    this.#append({ type: 'start', key, startedAt });
    this.#records.set(key, { key, startedAt });
  }

  /** Known from now on also when the disk does not take it. @throws Error of the file system */
  exit(key: string, exit: ProcessExit): void {
    const record = this.#records.get(key);
    if (!record) return;
    record.exit = exit;
    this.#append({ type: 'exit', key, exit });
  }

  forget(key: string): void {
    if (!this.#records.delete(key)) return;
    this.#append({ type: 'forget', key });
    this.#surplus += 3;
    if (this.#surplus < surplusLimit) return;
    closeSync(this.#fd);
    this.#fd = this.#writeAnew();
  }

  /** A full disk may take a part of a line; the next one then begins anew. */
  #append(line: Line): void {
    const text = (this.#isTorn ? '\n' : '') + toText(line);
    this.#isTorn = true;
    if (writeSync(this.#fd, text) !== Buffer.byteLength(text))
      throw new Error('the disk took a part of a line only');
    this.#isTorn = false;
  }

  /** @returns the file, open for appending */
  #writeAnew(): number {
    const path = toLogPath(this.#folder);
    const lines: Line[] = [];
    for (const { key, startedAt, exit } of this.#records.values()) {
      lines.push({ type: 'start', key, startedAt });
      if (exit) lines.push({ type: 'exit', key, exit });
    }
    writeFileSync(`${path}.new`, lines.map(toText).join(''), { mode: 0o600 });
    renameSync(`${path}.new`, path);
    this.#surplus = 0;
    this.#isTorn = false;
    return openSync(path, 'a');
  }
}

/** What the log in this folder says, also while another process appends to it; a line that is not whole is passed over. */
export function readLog(folder: string): Map<string, ProcessRecord> {
  const records = new Map<string, ProcessRecord>();
  for (const text of readText(toLogPath(folder)).split('\n')) {
    const line = parseLine(text);
    if (line) apply(records, line);
  }
  return records;
}

function apply(records: Map<string, ProcessRecord>, line: Line): void {
  const { key } = line;
  switch (line.type) {
    case 'start':
      records.set(key, { key, startedAt: line.startedAt });
      break;
    case 'exit': {
      const record = records.get(key);
      if (record) record.exit = line.exit;
      break;
    }
    case 'forget':
      records.delete(key);
      break;
  }
}

function toText(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}

function parseLine(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

function toLogPath(folder: string): string {
  return join(folder, 'processes.jsonl');
}
