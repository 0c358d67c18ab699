// undo-plan.ts: what has to be put back to take the calls of a session out of a workspace, and what speaks against it.
// U1  Only what changed while calls of the session ran is put back; everything else stays as it is.
// U2  The target of a path is its state before the first of these calls. Between the calls, and after the last, the path must be as they
//     left it; otherwise somebody else changed it, and undo would lose that.
// U3  A path that is at its target needs nothing: undo may be repeated, also after it was cut off.
import type { UndoConflict } from '@holdfast/protocol';
import type { CallWindow, Ledger, State } from './ledger.ts';
import type { ObjectId, ObjectKind, ObjectStore } from './object-store.ts';
import { diffTrees, isFolder, isSame, modes, readEntry, toType, type TreeEntry } from './tree.ts';

/** `path` is relative to the root, one character a byte. */
export type Restoration = { path: string; target: TreeEntry | undefined; now: TreeEntry | undefined };

export type UndoPlan = { restorations: Restoration[]; conflicts: UndoConflict[]; notKept: string[] };

type Chain = { target: TreeEntry | undefined; expected: TreeEntry | undefined; reason?: string };
type Stretch = { begin: State; end: State; isOpen: boolean };

export type UndoSubject = {
  ledger: Pick<Ledger, 'listOthers'>;
  store: Pick<ObjectStore, 'read'>;
  root: string;
  sessionId: string;
  /** Of one session in one workspace; each has a begin. */
  windows: readonly CallWindow[];
  now: State;
};

/** @throws Error when the snapshot lacks an object or holds a damaged one */
export function planUndo(given: UndoSubject): UndoPlan {
  const subject = { ...given, store: rememberReads(given.store) };
  const chains = toChains(subject);
  const plan: UndoPlan = { restorations: [], conflicts: [], notKept: [] };
  for (const [path, { target, expected, reason }] of chains) {
    const now = readEntry(subject.store, subject.now.tree, path);
    if (isSame(now, target)) continue; // U3
    if (isNotKept(target)) {
      plan.notKept.push(path);
      continue;
    }
    const why = isSame(now, expected) ? reason : (reason ?? 'it was changed after the turn');
    if (why !== undefined) plan.conflicts.push({ path, reason: why });
    else if (isNotKept(now)) plan.conflicts.push({ path, reason: 'it is too large to be kept' });
    plan.restorations.push({ path, target, now });
    if (target && !isFolder(target)) addContent(subject, { plan, chains, path, now });
    if (target) addParents(subject, { plan, chains, path });
  }
  return plan;
}

/** Each path is looked up from the root. */
function rememberReads(store: UndoSubject['store']): UndoSubject['store'] {
  const trees = new Map<string, Buffer>();
  const read = (kind: ObjectKind, id: ObjectId) => {
    const content = trees.get(id) ?? store.read(kind, id);
    trees.set(id, content);
    return content;
  };
  return { read };
}

type Context = { plan: UndoPlan; chains: Map<string, Chain>; path: string };

/** A folder in the place of a file has to go as a whole. */
function addContent(
  { store }: UndoSubject,
  { plan, chains, path, now }: Context & { now: TreeEntry | undefined },
): void {
  if (!now || !isFolder(now)) return;
  for (const inside of diffTrees(store, { before: undefined, after: now.id }, `${path}/`)) {
    if (!chains.has(inside.path))
      plan.conflicts.push({ path: inside.path, reason: 'it was made after the turn' });
  }
}

/** Folders above the path that the session left alone, and somebody else did not. */
function addParents(subject: UndoSubject, { plan, chains, path }: Context): void {
  const names = path.split('/');
  for (let depth = 1; depth < names.length; depth += 1) {
    const parent = names.slice(0, depth).join('/');
    const now = readEntry(subject.store, subject.now.tree, parent);
    if (chains.has(parent) || (now && isFolder(now))) continue;
    if (plan.restorations.some((planned) => planned.path === parent)) continue;
    plan.conflicts.push({ path: parent, reason: 'it was removed or replaced after the turn' });
    const begin = subject.windows.find((window) => window.begin)?.begin;
    const target = begin && readEntry(subject.store, begin.tree, parent);
    if (target && isFolder(target)) plan.restorations.push({ path: parent, target, now });
  }
}

function toChains(subject: UndoSubject): Map<string, Chain> {
  const chains = new Map<string, Chain>();
  for (const stretch of toStretches(subject)) {
    const changes = diffTrees(subject.store, { before: stretch.begin.tree, after: stretch.end.tree });
    for (const { path, before, after } of changes) {
      const chain = chains.get(path) ?? { target: before, expected: before };
      if (!isSame(chain.expected, before)) chain.reason ??= 'it was changed between the calls of the session';
      if (stretch.isOpen)
        chain.reason ??= 'the end of a call was not seen, so later changes cannot be told apart';
      chain.expected = after;
      chains.set(path, chain);
    }
    for (const { path, sessionId } of listOthers(subject, stretch)) {
      const chain = chains.get(path);
      if (chain) chain.reason ??= `session ${sessionId} changed it at the same time`;
    }
  }
  return chains;
}

/** Overlapping windows are one stretch: their changes cannot be told apart, and need not be. */
function toStretches({ windows, now }: UndoSubject): Stretch[] {
  const stretches: Stretch[] = [];
  for (const window of windows.toSorted((left, right) => toBegin(left) - toBegin(right))) {
    if (!window.begin) continue;
    const stretch = { begin: window.begin, end: window.end ?? now, isOpen: window.end === undefined };
    const last = stretches.at(-1);
    if (!last || stretch.begin.seq >= last.end.seq) stretches.push(stretch);
    else if (stretch.end.seq >= last.end.seq)
      Object.assign(last, { end: stretch.end, isOpen: stretch.isOpen });
  }
  return stretches;
}

function toBegin(window: CallWindow): number {
  return window.begin?.seq ?? 0;
}

function* listOthers({ ledger, store, root, sessionId, now }: UndoSubject, stretch: Stretch) {
  const range = { sessionId, begin: stretch.begin.seq, end: stretch.end.seq };
  for (const other of ledger.listOthers(root, range)) {
    const trees = { before: other.begin?.tree, after: (other.end ?? now).tree };
    for (const { path } of diffTrees(store, trees)) yield { path, sessionId: other.sessionId };
  }
}

function isNotKept(entry: TreeEntry | undefined): boolean {
  return entry !== undefined && toType(entry.mode) === modes.notKept;
}
