import type { SessionId } from './ids.ts';

/** Asks a machine to take the calls of one turn, and of those after it, out of the files of the workspace. Safe to repeat. */
export type UndoRequest = {
  op: 'undo';
  sessionId: SessionId;
  /** The turn, counted from 1; absent: the last one that changed files. */
  ordinal?: number;
  /** Puts files back also where somebody else changed them later. */
  force: boolean;
};

/** `reason` completes the sentence "<path>: …". */
export type UndoConflict = { path: string; reason: string };

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
  /** A sentence that says why nothing was done. */
  | { kind: 'nothing'; reason: string };
