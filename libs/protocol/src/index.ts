export { toCallId } from './ids.ts';
export type { CallId, Digest, InputId, SessionId, TurnId } from './ids.ts';
export { isCallItem, toMessageText, toUserMessage } from './items.ts';
export type {
  BlobRef,
  CallItem,
  CallOutputItem,
  CustomToolCallItem,
  CustomToolCallOutputItem,
  FunctionCallItem,
  FunctionCallOutputItem,
  InputText,
  Item,
  MessageItem,
  OutputText,
  ReasoningItem,
  StoredItem,
  WebSearchCallItem,
} from './items.ts';
export type { CallPlacement, Catalog, Effects, Placement, ToolProfile, ToolSpec } from './tools.ts';
export type {
  ApprovalPolicy,
  CallContext,
  CallDetail,
  CallOutput,
  CallRef,
  CallResult,
  CallState,
  CallStatus,
  Claim,
  FileChange,
} from './calls.ts';
export { isTerminal } from './events.ts';
export type { Delta, EventBody, EventFamily, SessionEvent, TerminalStatus, WaitingReason } from './events.ts';
export type { FailureNotice, Input, InputKind, StepReply, Turn, TurnEnd, TurnStatus } from './turns.ts';
export { noUsage } from './sessions.ts';
export type { ModelSettings, Session, SessionSettings, SessionState, TokenUsage } from './sessions.ts';
export type { Machine, MachineCapabilities, MachineKind, MachineRegistration } from './machines.ts';
export type { BackgroundTerminal, TerminalReply, TerminalRequest } from './terminals.ts';
export type { UndoConflict, UndoRequest, UndoResult } from './undo.ts';
export type {
  Answers,
  CallEffect,
  Goal,
  GoalStatus,
  Plan,
  PlanStep,
  Question,
  SessionCallResult,
} from './session-tools.ts';
export { toApprovalId } from './approvals.ts';
export type { Approval, ApprovalDecision } from './approvals.ts';
export { boundEnds, boundText, toBoundBytes, toOutputBound } from './bounded-text.ts';
export type { BoundedText, OutputBound, OutputStyle } from './bounded-text.ts';
