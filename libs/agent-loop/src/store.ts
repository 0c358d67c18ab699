// store.ts: the port to the truth. Adapters: Postgres and memory (services/history-store), HTTP (libs/store-client).
// Every operation is idempotent: repeating it with the same arguments changes nothing and returns the same answer,
// so that a client may repeat a request whose reply it never saw.
import type {
  Approval,
  ApprovalDecision,
  CallId,
  CallOutput,
  CallPlacement,
  CallStatus,
  Catalog,
  Claim,
  Digest,
  FailureNotice,
  Input,
  InputId,
  Item,
  Machine,
  MachineRegistration,
  Session,
  SessionEvent,
  SessionId,
  SessionSettings,
  StepReply,
  StoredItem,
  TerminalStatus,
  TokenUsage,
  Turn,
  TurnEnd,
  TurnId,
  WaitingReason,
} from '@holdfast/protocol';

export type NewSession = {
  sessionId: SessionId;
  title: string;
  settings: SessionSettings;
  /** Items every request of the session starts with, such as the environment of the machine. */
  context: Item[];
};

/** An input that no ended turn has consumed yet. `position` grows with the age order of all inputs. */
export type PendingInput = {
  position: number;
  sessionId: SessionId;
  input: Pick<Input, 'inputId' | 'kind'>;
};

export interface SessionLog {
  /** Returns the existing session when the id is taken. @throws Failure machine.unknown */
  createSession(session: NewSession): Promise<Session>;
  /** @throws Failure session.unknown */
  readSession(request: { sessionId: SessionId }): Promise<Session>;
  /** Newest activity first. */
  listSessions(request: { limit: number }): Promise<Session[]>;
  closeSession(request: { sessionId: SessionId }): Promise<Session>;
  /** Keeps the input for ever, unique per session and input id. @throws Failure session.unknown, session.closed */
  addInput(request: { sessionId: SessionId; input: Input }): Promise<{ duplicate: boolean }>;
  /** Inputs with `position > after` whose turn has not ended, in sessions without a new event for `quietMs`; oldest first. */
  listPendingInputs(request: { quietMs: number; after: number; limit: number }): Promise<PendingInput[]>;
  listTurns(request: { sessionId: SessionId }): Promise<Turn[]>;
  /** Items with `seq > after`, in order. */
  readItems(request: { sessionId: SessionId; after: number; limit: number }): Promise<StoredItem[]>;
  /** Events with `seq > after`, in order. */
  readEvents(request: { sessionId: SessionId; after: number; limit: number }): Promise<SessionEvent[]>;
}

export type OpenStep = {
  sessionId: SessionId;
  turnId: TurnId;
  /** From 1. */
  step: number;
  /** Inputs to record before this request; the first step of a turn names the turn's own input first. */
  inputs: InputId[];
  /** What the caller has cached: all items up to `seq` of this `epoch`. */
  have?: { epoch: number; seq: number };
  /** Replace the frozen tools by what machine and gateways offer now. */
  refreshTools?: boolean;
};

export type OpenedStep =
  | {
      kind: 'open';
      fence: number;
      ordinal: number;
      /** Changes whenever items before the cached ones stop being valid. */
      epoch: number;
      /** True when `items` starts at seq 1 and replaces the cache. */
      reset: boolean;
      items: StoredItem[];
      settings: SessionSettings;
      /** The frozen tools of the session, by catalog digest. */
      catalogs: Digest[];
    }
  /** The step was committed before; the model is not asked again. */
  | { kind: 'committed'; reply: StepReply }
  | { kind: 'sealed'; status: TerminalStatus };

export type NewCall = {
  modelCallId: string;
  tool: string;
  placement: CallPlacement;
  parallel: boolean;
  form: 'function' | 'freeform';
  input: string;
};

export type CommitStep = {
  sessionId: SessionId;
  turnId: TurnId;
  step: number;
  fence: number;
  ordinal: number;
  responseId: string;
  items: Item[];
  calls: NewCall[];
  usage: TokenUsage;
  contextTokens: number;
  endTurn: boolean;
};

export interface StepLog {
  /**
   * Fences older attempts of the step, records the inputs, writes `status:starting` and `step:started` once.
   * An input that another turn consumed already makes this turn `sealed`.
   * @throws Failure session.unknown, store.calls-open
   */
  openStep(request: OpenStep): Promise<OpenedStep>;
  /**
   * Appends items, calls, usage and events in one transaction. A repeat with the same response id returns the recorded reply.
   * @throws Failure store.stale-fence
   */
  commitStep(request: CommitStep): Promise<StepReply>;
  /**
   * Notes a failed attempt: as an `error` event when it will be repeated, or as `status:waiting` when it will be repeated after a
   * wait for `waiting` that people should see, told once as long as nothing else happens in the turn. Else it is kept, and a
   * `sealTurn` with the same code tells people this notice, so its text never has to travel through the engine. A stale fence is ignored.
   */
  noteFailure(request: {
    sessionId: SessionId;
    turnId: TurnId;
    step: number;
    fence: number;
    error: FailureNotice;
    willRetry: boolean;
    waiting?: WaitingReason;
  }): Promise<void>;
}

export type FinishCall = { sessionId: SessionId; callId: CallId; fence: number; output: CallOutput };

export interface CallLog {
  /** The only arbiter of who runs a call. @throws Failure call.unknown */
  claimCall(request: {
    sessionId: SessionId;
    callId: CallId;
    machineId: string;
    bootId: string;
  }): Promise<Claim>;
  /** Gives the claim back and asks a person; `approval:requested` is written once. @throws Failure store.stale-fence */
  askApproval(request: {
    sessionId: SessionId;
    callId: CallId;
    fence: number;
    question: string;
  }): Promise<{ approvalId: string }>;
  /** @throws Failure approval.unknown, approval.decided (when the other decision was recorded) */
  decideApproval(request: {
    sessionId: SessionId;
    approvalId: string;
    decision: ApprovalDecision;
  }): Promise<Approval>;
  /** Appends an `mcp_progress` event. A stale fence is ignored. */
  appendProgress(request: {
    sessionId: SessionId;
    callId: CallId;
    fence: number;
    progress: number;
    total?: number;
    message?: string;
  }): Promise<void>;
  /**
   * Records the output; outputs become items in the order the model asked, and the last one completes the step.
   * A repeat returns the recorded status. @throws Failure store.stale-fence
   */
  finishCall(request: FinishCall): Promise<{ status: CallStatus; outputTokens: number }>;
  /** Ends a call that nobody can finish any more, whoever claimed it; an output that is already there wins. */
  settleCall(request: Omit<FinishCall, 'fence'>): Promise<{ status: CallStatus; outputTokens: number }>;
}

export interface TurnLog {
  /**
   * Ends the turn: gives open calls an output, closes the open step, writes the one terminal status. The first caller decides;
   * later ones learn what was decided. A turn that never opened a step is started and ended.
   */
  sealTurn(request: {
    sessionId: SessionId;
    turnId: TurnId;
    end: TurnEnd;
  }): Promise<{ status: TerminalStatus }>;
  /** Writes `status:waiting` unless the turn waits for the same thing already. */
  noteWaiting(request: {
    sessionId: SessionId;
    turnId: TurnId;
    reason: WaitingReason;
    detail: string;
  }): Promise<void>;
}

export interface MachineDirectory {
  /** Takes the lease for this boot. @throws Failure machine.lease-held */
  registerMachine(request: MachineRegistration): Promise<{ leaseMs: number }>;
  /** @throws Failure machine.lease-lost */
  renewLease(request: { machineId: string; bootId: string }): Promise<{ leaseMs: number }>;
  releaseLease(request: { machineId: string; bootId: string }): Promise<void>;
  listMachines(): Promise<Machine[]>;
  /** @throws Failure catalog.unknown */
  readCatalog(request: { digest: Digest }): Promise<Catalog>;
}

export interface BlobStore {
  /** Keeps the bytes under their SHA-256; writing the same bytes again is free. */
  putBlob(request: { bytes: Uint8Array; mediaType: string }): Promise<{ digest: Digest; size: number }>;
  /** @throws Failure blob.unknown */
  readBlob(request: { digest: Digest }): Promise<{ bytes: Uint8Array; mediaType: string }>;
}

export type HistoryStore = SessionLog & StepLog & CallLog & TurnLog & MachineDirectory & BlobStore;
