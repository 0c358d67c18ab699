export { runCalls, toGroups } from './call-batch.ts';
export { EventLog } from './event-log.ts';
export { InProcessEngine } from './in-process.ts';
export type { CallRunner, InProcessEngineOptions } from './in-process.ts';
export type {
  AgentSession,
  EventSink,
  ModelStreamer,
  SampleRequest,
  ToolCallHandler,
  TurnPorts,
} from './ports.ts';
export { acceptInput, createQueue, endTurn, requestToolRefresh, takeTurn } from './session.ts';
export type { SessionQueue } from './session.ts';
export type {
  BlobStore,
  CallLog,
  CommitStep,
  FinishCall,
  GoalLog,
  HistoryStore,
  MachineDirectory,
  NewCall,
  NewSession,
  OpenedStep,
  OpenStep,
  PendingInput,
  SessionLog,
  StepLog,
  TurnLog,
} from './store.ts';
export { runTurn } from './turn.ts';
export type { TurnOptions, TurnOutcome, TurnState } from './turn.ts';
