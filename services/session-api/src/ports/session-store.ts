import type { HistoryStore } from '@holdfast/agent-loop';

/** The part of the history store that the public door uses. */
export type SessionStore = Pick<
  HistoryStore,
  | 'createSession'
  | 'readSession'
  | 'listSessions'
  | 'closeSession'
  | 'addInput'
  | 'listPendingInputs'
  | 'listTurns'
  | 'readItems'
  | 'readEvents'
  | 'decideApproval'
  | 'sealTurn'
  | 'listMachines'
  | 'readBlob'
>;
