// state.ts: what the memory store remembers; the same facts as the tables in src/migrations.
import { Failure } from '@holdfast/failures';
import type {
  ApprovalDecision,
  CallDetail,
  CallId,
  CallOutput,
  CallState,
  Catalog,
  Digest,
  EventBody,
  FailureNotice,
  Input,
  InputId,
  Item,
  MachineRegistration,
  CallPlacement,
  Session,
  SessionEvent,
  SessionId,
  SessionSettings,
  StepReply,
  StoredItem,
  TokenUsage,
  TurnId,
  TurnStatus,
  WaitingReason,
} from '@holdfast/protocol';

export type InputRow = Input & { position: number; turnId?: TurnId; recorded: boolean; createdAt: number };

export type TurnRow = {
  turnId: TurnId;
  ordinal: number;
  status: TurnStatus;
  error?: FailureNotice;
  startedAt: number;
  endedAt?: number;
};

export type StepRow = {
  turnId: TurnId;
  step: number;
  fence: number;
  notedFence: number;
  /** The notice of an attempt that will not be repeated. */
  failure?: FailureNotice;
  committed?: { responseId: string; usage: TokenUsage; reply: Extract<StepReply, { kind: 'reply' }> };
  /** In the order the model asked. */
  callIds: CallId[];
  finished: number;
  /** Outputs that are items already, always the first ones. */
  recorded: number;
};

export type CallRow = Pick<CallDetail, 'turnId' | 'callId' | 'modelCallId' | 'tool' | 'form' | 'input'> & {
  step: number;
  placement: CallPlacement;
  state: CallState;
  fence: number;
  holder?: { machineId: string; bootId: string };
  claimedAt: number;
  progress?: EventBody;
  output?: CallOutput;
};

export type ApprovalRow = {
  approvalId: string;
  callId: CallId;
  tool: string;
  question: string;
  decision?: ApprovalDecision;
};

export type RunningTurn = {
  turnId: TurnId;
  ordinal: number;
  /** Steps started so far, and the one of them that has not ended (0: none). */
  steps: number;
  openStep: number;
};

export type Waiting = { reason: WaitingReason; detail: string };

export type SessionData = {
  sessionId: SessionId;
  title: string;
  state: Session['state'];
  settings: SessionSettings;
  /** Frozen at the first step. */
  catalogs?: Digest[];
  turnCount: number;
  running?: RunningTurn;
  /** The last `status:waiting`; absent once the turn went on. */
  waiting?: Waiting;
  createdAt: number;
  updatedAt: number;
  inputs: Map<InputId, InputRow>;
  turns: Map<TurnId, TurnRow>;
  steps: Map<string, StepRow>;
  calls: Map<CallId, CallRow>;
  approvals: Map<string, ApprovalRow>;
  items: StoredItem[];
  events: SessionEvent[];
};

export type MachineRow = Omit<MachineRegistration, 'catalog' | 'replaces'> & {
  catalogDigest: Digest;
  leaseExpiresAt: number;
  lastSeenAt: number;
};

export type MemoryState = {
  now: () => number;
  sessions: Map<SessionId, SessionData>;
  machines: Map<string, MachineRow>;
  catalogs: Map<Digest, Catalog>;
  blobs: Map<Digest, { bytes: Uint8Array; mediaType: string }>;
  /** Given to inputs, so that they keep their order within one millisecond. */
  nextPosition: number;
  /** Events of the operation that runs now. */
  written: SessionEvent[];
};

/** @throws Failure session.unknown */
export function findSession(state: MemoryState, sessionId: SessionId): SessionData {
  const session = state.sessions.get(sessionId);
  if (!session) throw new Failure('session.unknown');
  return session;
}

/** @throws Failure call.unknown */
export function findCall(session: SessionData, callId: CallId): CallRow {
  const call = session.calls.get(callId);
  if (!call) throw new Failure('call.unknown', { detail: callId });
  return call;
}

export function findStep(session: SessionData, turnId: TurnId, step: number): StepRow | undefined {
  return session.steps.get(`${turnId}/${step}`);
}

/** Appends under the next numbers; the events are reported when the operation has ended. */
export function append(
  state: MemoryState,
  session: SessionData,
  entry: { turnId: TurnId; events?: EventBody[]; items?: Item[] },
): void {
  const now = state.now();
  const envelope = { sessionId: session.sessionId, turnId: entry.turnId, at: new Date(now).toISOString() };
  for (const item of entry.items ?? []) session.items.push({ seq: session.items.length + 1, item });
  for (const body of entry.events ?? []) {
    const event = { ...body, ...envelope, seq: session.events.length + 1 };
    session.events.push(event);
    state.written.push(event);
  }
  session.updatedAt = now;
}

export function setActive(session: SessionData, active: 'running' | 'waiting' | 'idle'): void {
  if (session.state !== 'closed') session.state = active;
}
