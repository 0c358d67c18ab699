// requests.ts: what is asked of the history of workspaces, and what it answers.
import type { PlannedChange } from '../tool.ts';
import type { UndoConflict } from './undo-plan.ts';

export type CallStart = {
  sessionId: string;
  turnId: string;
  callId: string;
  tool: string;
  cwd: string;
  /** What the call will write, where its tool knows. */
  files?: readonly PlannedChange[];
  /** False: the last look at the workspace stands for the state before the call. */
  look: boolean;
};

export type CallId = { sessionId: string; callId: string };

/** `ordinal` names the turn; the last one of the session when absent. */
export type UndoRequest = { sessionId: string; ordinal?: number; force: boolean };

/** Paths are for people: absolute, and readable even where the name is not UTF-8. */
export type UndoResult =
  | {
      kind: 'undone';
      ordinal: number;
      restored: string[];
      /** What could not be put back, and why. */
      left: UndoConflict[];
    }
  /** Nothing was touched. With `force` these paths are put back all the same. */
  | { kind: 'refused'; ordinal: number; conflicts: UndoConflict[] }
  /** A sentence that says why there is nothing to do. */
  | { kind: 'nothing'; reason: string };

export type Begun = {
  /** Paths that changed unseen by the session: the call must not run then. */
  conflicts: string[];
  /** Looking at the workspace takes a while. */
  isLarge: boolean;
};
