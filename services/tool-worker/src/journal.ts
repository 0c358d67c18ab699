// journal.ts: what this machine was about to do, on disk before it does it.
// J1  A call without a row has had no effect on this machine.
// J2  A row goes only when the store has the outcome, or has ended the turn.
// J3  A row with an output is settled: it is reported as it stands.
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { CallOutput } from '@holdfast/protocol';

/** The Temporal activity that dispatched a call. */
export type CallOrigin = { workflowId: string; runId: string; activityId: string };

export type JournalRow = {
  key: string;
  sessionId: string;
  callId: string;
  tool: string;
  fence: number;
  bootId: string;
  kernelBoot: string;
  origin?: CallOrigin;
  evidence: unknown;
  output?: CallOutput;
};

const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS calls (key TEXT PRIMARY KEY, started TEXT NOT NULL, output TEXT) WITHOUT ROWID;
`;

/** Removed rows are written together with the next new row, or after this time. */
const removalDelayMs = 1_000;

export class Journal {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #select: StatementSync;
  readonly #update: StatementSync;
  readonly #follow: StatementSync;
  readonly #delete: StatementSync;
  readonly #removed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  /** Creates the file when it is absent; its folder must exist. Only one process may have it open. */
  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec(schema);
    this.#insert = this.#database.prepare('INSERT OR REPLACE INTO calls (key, started) VALUES (?, ?)');
    this.#select = this.#database.prepare('SELECT started, output FROM calls WHERE key = ?');
    this.#update = this.#database.prepare('UPDATE calls SET output = ? WHERE key = ?');
    this.#follow = this.#database.prepare(
      "UPDATE calls SET started = json_set(started, '$.origin', json(?)) WHERE key = ?",
    );
    this.#delete = this.#database.prepare('DELETE FROM calls WHERE key = ?');
  }

  /** On disk when it returns. */
  begin(row: Omit<JournalRow, 'output'>): void {
    this.#removed.delete(row.key);
    this.#inTransaction(() => {
      this.#writeRemovals();
      this.#insert.run(row.key, JSON.stringify(row));
    });
  }

  read(key: string): JournalRow | undefined {
    const found = this.#removed.has(key) ? undefined : this.#select.get(key);
    return found && toRow(found);
  }

  /** Keeps the outcome of a call whose row exists. */
  settle(key: string, output: CallOutput): void {
    this.#update.run(JSON.stringify(output), key);
  }

  /**
   * Notes whose dispatch follows a call whose row may exist already. Survives the death of this process, not of the operating
   * system: the dispatch is then found dead by its heartbeats, so waiting for the disk would buy nothing.
   */
  noteOrigin(key: string, origin: CallOrigin): void {
    this.#database.exec('PRAGMA synchronous = OFF');
    this.#follow.run(JSON.stringify(origin), key);
    this.#database.exec('PRAGMA synchronous = FULL');
  }

  /** The row is gone at once for `read` and `list`, on disk a little later. */
  remove(key: string): void {
    this.#removed.add(key);
    this.#timer ??= setTimeout(
      () => this.#inTransaction(() => this.#writeRemovals()),
      removalDelayMs,
    ).unref();
  }

  list(): JournalRow[] {
    const rows = this.#database.prepare('SELECT started, output FROM calls ORDER BY key').all().map(toRow);
    return rows.filter((row) => !this.#removed.has(row.key));
  }

  close(): void {
    if (!this.#database.isOpen) return;
    this.#inTransaction(() => this.#writeRemovals());
    this.#database.close();
  }

  #inTransaction(write: () => void): void {
    this.#database.exec('BEGIN');
    try {
      write();
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #writeRemovals(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const key of this.#removed) this.#delete.run(key);
    this.#removed.clear();
  }
}

function toRow(found: Record<string, unknown>): JournalRow {
  const row = JSON.parse(String(found['started'])) as JournalRow;
  const output = found['output'];
  return typeof output === 'string' ? { ...row, output: JSON.parse(output) as CallOutput } : row;
}
