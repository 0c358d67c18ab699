// messages.ts: between a machine and the thread that looks after its workspaces. Messages are done in the order of their sending.
import type { UndoResult } from '@holdfast/protocol';
import type { WorkspaceHistoryOptions } from './history.ts';
import type { Begun, CallId, CallStart, UndoOrder } from './requests.ts';
import type { TurnDiff } from './turn-diff.ts';

export type ThreadOptions = WorkspaceHistoryOptions;

/** What can be asked, and what is answered. */
export type Questions = {
  warm: { given: { cwd: string }; answer: void };
  begin: { given: CallStart; answer: Begun };
  end: { given: Omit<CallStart, 'look'>; answer: void };
  spoil: { given: CallId; answer: void };
  noteRead: { given: CallId & { tool: string; path: string; stamp: string }; answer: void };
  undo: { given: UndoOrder; answer: UndoResult };
  diff: { given: { sessionId: string; ordinal: number }; answer: TurnDiff };
  close: { given: Record<string, never>; answer: void };
};

export type QuestionName = keyof Questions;

export type Question = {
  [N in QuestionName]: { id: number; name: N; given: Questions[N]['given'] };
}[QuestionName];

export type Answer = { id: number } & ({ answer: unknown } | { error: string });
