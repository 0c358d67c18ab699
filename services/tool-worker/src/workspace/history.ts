import { hash } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
// history.ts: the workspaces of one machine over time: what stood before and after each call, and the way back.
// H1  The state before a call is on disk before the call has an effect.
// H2  A call that is taken up again keeps the state that was noted before it began.
// H3  What could not be noted is said by undo, never guessed.
import type { UndoResult } from '@holdfast/protocol';
import type { PlannedChange } from '../tool.ts';
import { toShownPath } from './byte-paths.ts';
import { loadRecord, saveRecord } from './folder-record.ts';
import { KnownFiles } from './known-files.ts';
import { Ledger, type CallWindow, type State } from './ledger.ts';
import { ObjectStore } from './object-store.ts';
import type { Begun, CallId, CallStart, UndoOrder } from './requests.ts';
import { restorePaths } from './restore.ts';
import { Snapshot, type SnapshotLimits } from './snapshot.ts';
import { readTurnDiff, type TurnDiff } from './turn-diff.ts';
import { planUndo } from './undo-plan.ts';
import { findRoot } from './workspace-root.ts';

type Workspace = {
  store: ObjectStore;
  snapshot: Snapshot;
  indexFile: string;
  state: State | undefined;
  /** Calls whose end waits for the next look. */
  ended: CallId[];
};

/** A look at so many takes about 5 ms; in a larger workspace calls that follow each other share the look at their end. */
const largeFiles = 2_000;

export type WorkspaceHistoryOptions = {
  /** Created when absent; belongs to one process. */
  folder: string;
  /** Absolute paths that no snapshot contains. */
  excluded: readonly string[];
  /** Where git is found; a list of folders as in `PATH`. */
  path: string;
  limits?: SnapshotLimits;
};

export class WorkspaceHistory {
  readonly #options: WorkspaceHistoryOptions;
  readonly #ledger: Ledger;
  readonly #known: KnownFiles;
  readonly #workspaces = new Map<string, Workspace>();
  readonly #unsaved = new Set<Workspace>();
  /** Sessions by their running calls. */
  readonly #running = new Map<string, Set<string>>();

  constructor(options: WorkspaceHistoryOptions) {
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    this.#options = options;
    this.#ledger = new Ledger(join(options.folder, 'ledger.db'));
    this.#known = new KnownFiles(this.#ledger);
  }

  /** Looks at a workspace ahead of its first call. @throws Error when it cannot have a snapshot */
  warm(cwd: string): void {
    const root = findRoot(cwd);
    if (root !== undefined) this.#look(root);
  }

  /** Idempotent. */
  begin(start: CallStart): Begun {
    const { sessionId, callId, turnId, tool, files = [] } = start;
    const root = findRoot(start.cwd);
    const running = this.#running.get(sessionId) ?? new Set();
    if (running.size === 0) this.#known.findStale(sessionId);
    this.#running.set(sessionId, running.add(callId));
    const window = { sessionId, callId, turnId, tool, ordinal: toOrdinal(callId), root: root ?? start.cwd };
    this.#ledger.open({ ...window, ...this.#toBegin(root, start) }); // H2
    const conflicts = this.#known.findConflicts(sessionId, files);
    for (const file of conflicts.length > 0 ? [] : files) {
      const original = root === undefined ? null : this.#keepOriginal(root, file);
      this.#ledger.touch({ sessionId, callId, tool, kind: 'write', ...file, original });
    }
    return { conflicts, isLarge: root !== undefined && this.#open(root).snapshot.files > largeFiles };
  }

  /**
   * Idempotent; also for a call whose begin was lost with an earlier process. In a large workspace the state after the call is
   * noted by `settle`, or by any other look before. @throws Error when no snapshot can be taken
   */
  end({ sessionId, callId, turnId, tool, cwd, files = [] }: Omit<CallStart, 'look'>): void {
    const running = this.#running.get(sessionId);
    running?.delete(callId);
    if (running?.size === 0) this.#running.delete(sessionId);
    this.#known.noteWritten(sessionId, files);
    this.#known.adopt(sessionId);
    const root = this.#ledger.read({ sessionId, callId })?.root ?? findRoot(cwd);
    if (root === undefined || findRoot(root) === undefined) return;
    const begin = this.#findEarlier(root, { sessionId, callId });
    this.#ledger.open({
      sessionId,
      callId,
      turnId,
      tool,
      ordinal: toOrdinal(callId),
      root,
      ...(begin ? { begin } : { note: 'the state before the call was not noted' }),
    });
    const workspace = this.#open(root);
    workspace.ended.push({ sessionId, callId });
    if (workspace.snapshot.files <= largeFiles) this.#look(root);
  }

  /** Looks where calls have ended since the last look. @throws Error when no snapshot can be taken */
  settle(): void {
    for (const [root, { ended }] of this.#workspaces) if (ended.length > 0) this.#look(root);
  }

  /** The call began before its state could be noted. */
  spoil(call: CallId): void {
    this.#ledger.spoil(
      call,
      'the first look at the folder took too long, so the state before the call was not noted',
    );
  }

  /** `stamp` is of the file before it was read; `path` has no links. */
  noteRead({ stamp, ...read }: CallId & { tool: string; path: string; stamp: string }): void {
    const digest = this.#known.noteRead(read.sessionId, { path: read.path, stamp });
    this.#ledger.touch({ ...read, kind: 'read', before: digest, after: digest, original: null });
  }

  /** Idempotent, also when it was cut off. @throws Error when the snapshot is damaged or a path cannot be written */
  undo({ sessionId, ordinal, force }: UndoOrder): UndoResult {
    this.settle();
    const windows = this.#ledger.listOfSession(sessionId);
    const last = Math.max(0, ...windows.map((window) => window.ordinal));
    if (last === 0)
      return { kind: 'nothing', reason: 'this session has run no tool that changes files on this machine' };
    const from = ordinal ?? last;
    const chosen = windows.filter((window) => window.ordinal >= from);
    if (chosen.length === 0) {
      return {
        kind: 'nothing',
        reason: `no turn from ${from} on has run a tool that changes files; the last was turn ${last}`,
      };
    }
    const open = chosen.filter((window) => !window.undone);
    if (open.length === 0) return { kind: 'nothing', reason: `turn ${from} is undone already` };
    const plans = [...Map.groupBy(open, (window) => window.root)].map(([root, ofRoot]) =>
      this.#plan(root, { sessionId, windows: ofRoot }),
    );
    const conflicts = plans.flatMap((plan) => plan.conflicts);
    if (conflicts.length > 0 && !force) return { kind: 'refused', ordinal: from, conflicts };
    const left = plans.flatMap(({ root, store, restorations, notKept }) => [
      ...notKept.map((path) => ({ path: toShown(root, path), reason: 'its content was not kept' })),
      ...restorePaths({ root, store, restorations }).map(({ path, reason }) => ({
        path: toShown(root, path),
        reason,
      })),
    ]);
    this.#ledger.markUndone(sessionId, from);
    for (const { root } of plans) if (findRoot(root) !== undefined) this.#look(root);
    const restored = plans.flatMap(({ root, restorations }) =>
      restorations.map(({ path }) => toShown(root, path)),
    );
    return {
      kind: 'undone',
      ordinal: from,
      restored: restored.filter((path) => !left.some((entry) => entry.path === path)),
      left,
    };
  }

  /** Of all that the calls of one turn changed so far. */
  diff({ sessionId, ordinal }: { sessionId: string; ordinal: number }): TurnDiff {
    this.settle();
    const windows = this.#ledger.listOfSession(sessionId).filter((window) => window.ordinal === ordinal);
    const roots = [...Map.groupBy(windows, (window) => window.root)];
    return readTurnDiff(
      roots.flatMap(([root, ofRoot]) => {
        const [first] = ofRoot;
        const last = ofRoot.toSorted((one, other) => (one.end?.seq ?? 0) - (other.end?.seq ?? 0)).at(-1);
        if (!first?.begin || !last?.end) return [];
        return [{ store: this.#open(root).store, before: first.begin.tree, after: last.end.tree }];
      }),
      this.#options.path,
    );
  }

  /** Writes down what the next process needs in order not to read everything again. */
  save(): void {
    for (const { indexFile, snapshot } of this.#unsaved) saveRecord(indexFile, snapshot.record);
    this.#unsaved.clear();
  }

  /** @throws Error when the state after the last calls cannot be noted; everything is closed all the same */
  close(): void {
    try {
      this.settle();
      this.save();
    } finally {
      this.#ledger.close();
    }
  }

  #plan(root: string, { sessionId, windows }: { sessionId: string; windows: readonly CallWindow[] }) {
    const { store } = this.#open(root);
    const unnoted = windows.flatMap(({ callId, note }) =>
      note === undefined ? [] : [{ path: root, reason: `call ${callId}: ${note}` }],
    ); // H3
    const noted = windows.filter(({ note }) => note === undefined);
    if (noted.length === 0) return { root, store, restorations: [], notKept: [], conflicts: unnoted };
    const plan = planUndo({
      ledger: this.#ledger,
      store,
      root,
      sessionId,
      windows: noted,
      now: this.#look(root),
    });
    const conflicts = plan.conflicts.map(({ path, reason }) => ({ path: toShown(root, path), reason }));
    return { ...plan, root, store, conflicts: [...unnoted, ...conflicts] };
  }

  #toBegin(root: string | undefined, { look }: CallStart): Pick<CallWindow, 'begin' | 'note'> {
    if (root === undefined) return { note: 'no snapshot is taken of a home or of a folder above one' };
    try {
      const begin = look ? this.#look(root) : (this.#ledger.readState(root) ?? this.#look(root));
      return { begin };
    } catch (error) {
      return { note: error instanceof Error ? error.message : String(error) };
    }
  }

  /** For a call whose own begin was lost: what the turn had noted before it. */
  #findEarlier(root: string, { sessionId, callId }: CallId): State | undefined {
    const ofTurn = this.#ledger
      .listOfSession(sessionId)
      .filter((window) => window.root === root && window.ordinal === toOrdinal(callId));
    const states = ofTurn.flatMap((window) => window.end ?? window.begin ?? []);
    return states.toSorted((one, other) => one.seq - other.seq).at(-1);
  }

  #look(root: string): State {
    const workspace = this.#open(root);
    const ended = workspace.ended.splice(0);
    const tree = workspace.snapshot.take();
    if (workspace.state?.tree !== tree) {
      workspace.state = this.#ledger.noteState(root, tree);
      this.#unsaved.add(workspace);
    }
    for (const call of ended) this.#ledger.end(call, workspace.state);
    return workspace.state;
  }

  /** Nearly always the snapshot has it already. */
  #keepOriginal(root: string, { path, before }: PlannedChange): string | null {
    if (before === null) return null;
    const inside = relative(root, path);
    if (inside.startsWith('..') || isAbsolute(inside)) return null;
    if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return null;
    const content = readFileSync(path);
    return hash('sha256', content) === before ? this.#open(root).store.put('blob', content) : null;
  }

  #open(root: string): Workspace {
    const opened = this.#workspaces.get(root);
    if (opened) return opened;
    const { folder, excluded, limits } = this.#options;
    const store = new ObjectStore(join(folder, hash('sha256', root).slice(0, 16)));
    const indexFile = join(store.folder, 'index.json');
    const record = loadRecord(indexFile);
    const snapshot = new Snapshot({ root, store, excluded, record, ...(limits ? { limits } : {}) });
    const workspace = {
      store,
      snapshot,
      indexFile,
      state: this.#ledger.readState(root),
      lookMs: 0,
      ended: [],
    };
    this.#workspaces.set(root, workspace);
    return workspace;
  }
}

/** A call id begins with the number of its turn. */
function toOrdinal(callId: string): number {
  return Number.parseInt(callId, 10);
}

function toShown(root: string, path: string): string {
  return `${root}/${toShownPath(path)}`;
}
