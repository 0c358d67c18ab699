export type {
  CallActivities,
  HistoryActivities,
  LlmActivities,
  NoteWaitingArgs,
  RunCallArgs,
  RunSessionCallArgs,
  SampleArgs,
  SealTurnArgs,
  SettleCallArgs,
} from './activities.ts';
export {
  defaultTuning,
  heartbeatIntervalMs,
  historyOptions,
  toCallOptions,
  toSampleOptions,
} from './options.ts';
export type { Tuning } from './options.ts';
export { queues, toMachineQueue, toWorkflowId } from './queues.ts';
export {
  approveUpdate,
  closeUpdate,
  interruptUpdate,
  refreshToolsUpdate,
  sessionWorkflowType,
  stateQuery,
  submitUpdate,
} from './session-workflow.ts';
export type { SessionArgs, SubmitArgs } from './session-workflow.ts';
