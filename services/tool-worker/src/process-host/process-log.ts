// process-log.ts: what is kept of every process on disk, as one file that is only appended to: that it was about to start, how it ended,
// that it may be forgotten. A file and a folder for each process would cost more than starting it.
// F1  The start is written before the process is spawned, so a key that is in the log may have had an effect.
// F2  What was appended survives the death of this process, not a crash of the system; whoever asks must know of the latter.
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessExit, Reading } from './protocol.ts';

/** What is kept of a process that went to the background. */
export type TerminalRecord = {
  owner: string;
  number: number;
  command: string;
  tty: boolean;
  /** The session wants to be told of its end, and was not yet. */
  notify: boolean;
  /** Up to here its output was read. */
  cursor: number;
  /** Orders terminals by their last use. */
  usedAt: number;
  /** Calls that have written to it and are not settled. */
  inputs: string[];
  /** By call, as long as the call is not settled. */
  readings: Record<string, Reading>;
};

export type ProcessRecord = {
  key: string;
  startedAt: number;
  tty?: true;
  exit?: ProcessExit;
  terminal?: TerminalRecord;
};

type Line =
  | { type: 'start'; key: string; startedAt: number; tty?: true }
  | { type: 'exit'; key: string; exit: ProcessExit }
  /** Replaces what was kept of the terminal. */
  | { type: 'terminal'; key: string; terminal: TerminalRecord }
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

  /** Processes in the background, oldest first. */
  terminals(): (ProcessRecord & { terminal: TerminalRecord })[] {
    return [...this.#records.values()].flatMap((record) => {
      const { terminal } = record;
      return terminal ? [{ ...record, terminal }] : [];
    });
  }

  /** @throws Error of the file system; the process must not be started then */
  start(started: { key: string; startedAt: number; tty?: true }): void {
    this.#append({ type: 'start', ...started });
    this.#records.set(started.key, { ...started });
  }

  /** Known from now on also when the disk does not take it. @throws Error of the file system */
  exit(key: string, exit: ProcessExit): void {
    const record = this.#records.get(key);
    if (!record) return;
    record.exit = exit;
    this.#append({ type: 'exit', key, exit });
  }

  /** @throws Error of the file system; nothing has changed then */
  setTerminal(key: string, terminal: TerminalRecord): void {
    const record = this.#records.get(key);
    if (!record) return;
    this.#append({ type: 'terminal', key, terminal });
    record.terminal = terminal;
    this.#surplus += 1;
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
    for (const { exit, terminal, ...started } of this.#records.values()) {
      const { key } = started;
      lines.push({ type: 'start', ...started });
      if (terminal) lines.push({ type: 'terminal', key, terminal });
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
    case 'start': {
      const { type: _, ...started } = line;
      records.set(key, started);
      break;
    }
    case 'exit': {
      const record = records.get(key);
      if (record) record.exit = line.exit;
      break;
    }
    case 'terminal': {
      const record = records.get(key);
      if (record) record.terminal = line.terminal;
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
