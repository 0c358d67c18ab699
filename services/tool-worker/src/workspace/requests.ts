// requests.ts: what is asked of the history of workspaces, and what it answers.
import type { PlannedChange } from '../tool.ts';

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

/** See `UndoRequest` of the protocol. */
export type UndoOrder = { sessionId: string; ordinal?: number; force: boolean };

export type Begun = {
  /** Paths that changed unseen by the session: the call must not run then. */
  conflicts: string[];
  /** Looking at the workspace takes a while. */
  isLarge: boolean;
};
