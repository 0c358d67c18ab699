// ledger.ts: which states of a workspace stand before and after each call, and what each session has seen of which file.
// L1  A window is on disk before its call has an effect, and survives the death of this process.
// L2  A window without an end belongs to a call whose end was not seen: what changed since then cannot be told apart.
// L3  Windows of one session whose states overlap count as one.
import { DatabaseSync } from 'node:sqlite';
import type { ObjectId } from './object-store.ts';

/** A state of a workspace; `seq` counts the looks at it. */
export type State = { seq: number; tree: ObjectId };

export type CallWindow = {
  root: string;
  sessionId: string;
  callId: string;
  turnId: string;
  ordinal: number;
  tool: string;
  /** Absent when no snapshot could be taken; `note` says why. */
  begin?: State;
  end?: State;
  note?: string;
  undone: boolean;
};

/** What a session last saw of a file: its digest, or that there was none. */
export type KnownFile = {
  /** Absolute. */
  path: string;
  digest: string | null;
  /** Changed by somebody else since, and the session has not been told. */
  stale: boolean;
  /** Of the file at that time, to notice changes without reading it. */
  stamp: string;
};

const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS roots (root TEXT PRIMARY KEY, seq INTEGER NOT NULL, tree TEXT) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS windows (
    session TEXT NOT NULL, call TEXT NOT NULL, root TEXT NOT NULL, turn TEXT NOT NULL, ordinal INTEGER NOT NULL, tool TEXT NOT NULL,
    begin_seq INTEGER, begin_tree TEXT, end_seq INTEGER, end_tree TEXT, note TEXT, undone INTEGER NOT NULL DEFAULT 0,
    at TEXT NOT NULL, PRIMARY KEY (session, call)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS windows_by_root ON windows (root, end_seq);
  CREATE TABLE IF NOT EXISTS known (
    session TEXT NOT NULL, path TEXT NOT NULL, digest TEXT, stale INTEGER NOT NULL, stamp TEXT NOT NULL,
    PRIMARY KEY (session, path)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS touches (
    at TEXT NOT NULL, session TEXT NOT NULL, call TEXT NOT NULL, tool TEXT NOT NULL, kind TEXT NOT NULL, path TEXT NOT NULL,
    before TEXT, after TEXT, original TEXT);
`;

/** One access to one file, for the audit log. */
export type Touch = {
  sessionId: string;
  callId: string;
  tool: string;
  kind: 'read' | 'write';
  path: string;
  before: string | null;
  after: string | null;
  /** The content before a write, in the private git directory. */
  original: ObjectId | null;
};

export class Ledger {
  readonly #database: DatabaseSync;

  /** Creates the file when it is absent; its folder must exist. Only one process may have it open. */
  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec(schema);
  }

  readState(root: string): State | undefined {
    const row = this.#get('SELECT seq, tree FROM roots WHERE root = ?', [root]);
    return row && toState(row['seq'], row['tree']);
  }

  /** Counts a look at the workspace. */
  noteState(root: string, tree: ObjectId): State {
    const sql = `INSERT INTO roots (root, seq, tree) VALUES (?, 1, ?)
      ON CONFLICT (root) DO UPDATE SET seq = seq + 1, tree = excluded.tree RETURNING seq, tree`;
    const row = this.#get(sql, [root, tree]);
    return { seq: Number(row?.['seq']), tree };
  }

  /** A window that exists keeps its begin: the call was taken up again. */
  open(window: Omit<CallWindow, 'end' | 'undone'>): void {
    const sql = `INSERT INTO windows (session, call, root, turn, ordinal, tool, begin_seq, begin_tree, note, at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
    const { sessionId, callId, root, turnId, ordinal, tool, begin, note } = window;
    const state = [begin?.seq ?? null, begin?.tree ?? null, note ?? null];
    this.#run(sql, [sessionId, callId, root, turnId, ordinal, tool, ...state, new Date().toISOString()]);
  }

  end(call: { sessionId: string; callId: string }, state: State): void {
    const sql = 'UPDATE windows SET end_seq = ?, end_tree = ? WHERE session = ? AND call = ?';
    this.#run(sql, [state.seq, state.tree, call.sessionId, call.callId]);
  }

  /** Nothing can be said of what this call changed. */
  spoil(call: { sessionId: string; callId: string }, note: string): void {
    this.#run('UPDATE windows SET note = ? WHERE session = ? AND call = ?', [
      note,
      call.sessionId,
      call.callId,
    ]);
  }

  read(call: { sessionId: string; callId: string }): CallWindow | undefined {
    const sql = 'SELECT * FROM windows WHERE session = ? AND call = ?';
    return this.#all(sql, [call.sessionId, call.callId]).map(toWindow)[0];
  }

  /** In the order of their begin. */
  listOfSession(sessionId: string): CallWindow[] {
    return this.#all('SELECT * FROM windows WHERE session = ? ORDER BY begin_seq', [sessionId]).map(toWindow);
  }

  /** Of other sessions, that were open while the states in between were current. */
  listOthers(root: string, range: { sessionId: string; begin: number; end: number }): CallWindow[] {
    const sql = `SELECT * FROM windows WHERE root = ? AND session <> ? AND undone = 0 AND begin_seq < ?
      AND (end_seq IS NULL OR end_seq > ?) ORDER BY begin_seq`;
    return this.#all(sql, [root, range.sessionId, range.end, range.begin]).map(toWindow);
  }

  markUndone(sessionId: string, fromOrdinal: number): void {
    this.#run('UPDATE windows SET undone = 1 WHERE session = ? AND ordinal >= ?', [sessionId, fromOrdinal]);
  }

  listKnown(sessionId: string): KnownFile[] {
    return this.#all('SELECT * FROM known WHERE session = ?', [sessionId]).map(toKnown);
  }

  setKnown(sessionId: string, file: KnownFile): void {
    const sql = 'INSERT OR REPLACE INTO known (session, path, digest, stale, stamp) VALUES (?, ?, ?, ?, ?)';
    this.#run(sql, [sessionId, file.path, file.digest, file.stale ? 1 : 0, file.stamp]);
  }

  /** Others that know another content of this file hear of it when they are about to change it. */
  markStale(path: string, written: { sessionId: string; digest: string | null }): void {
    const sql = 'UPDATE known SET stale = 1 WHERE path = ? AND session <> ? AND digest IS NOT ?';
    this.#run(sql, [path, written.sessionId, written.digest]);
  }

  touch(touch: Touch): void {
    const { sessionId, callId, tool, kind, path, before, after, original } = touch;
    const sql = `INSERT INTO touches (at, session, call, tool, kind, path, before, after, original)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
    this.#run(sql, [new Date().toISOString(), sessionId, callId, tool, kind, path, before, after, original]);
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #run(sql: string, values: (string | number | null)[]): void {
    this.#database.prepare(sql).run(...values);
  }

  #get(sql: string, values: (string | number | null)[]): Record<string, unknown> | undefined {
    return this.#database.prepare(sql).get(...values);
  }

  #all(sql: string, values: (string | number | null)[]): Record<string, unknown>[] {
    return this.#database.prepare(sql).all(...values);
  }
}

function toState(seq: unknown, tree: unknown): State | undefined {
  return typeof seq === 'number' && typeof tree === 'string' ? { seq, tree } : undefined;
}

function toWindow(row: Record<string, unknown>): CallWindow {
  const begin = toState(row['begin_seq'], row['begin_tree']);
  const end = toState(row['end_seq'], row['end_tree']);
  const note = row['note'];
  return {
    root: String(row['root']),
    sessionId: String(row['session']),
    callId: String(row['call']),
    turnId: String(row['turn']),
    ordinal: Number(row['ordinal']),
    tool: String(row['tool']),
    ...(begin ? { begin } : {}),
    ...(end ? { end } : {}),
    ...(typeof note === 'string' ? { note } : {}),
    undone: row['undone'] === 1,
  };
}

function toKnown(row: Record<string, unknown>): KnownFile {
  const digest = row['digest'];
  return {
    path: String(row['path']),
    digest: typeof digest === 'string' ? digest : null,
    stale: row['stale'] === 1,
    stamp: String(row['stamp']),
  };
}
