// ports.ts: what the loop needs from the engine that drives it.
import type {
  ApprovalDecision,
  CallRef,
  CallResult,
  InputId,
  SessionEvent,
  SessionId,
  StepReply,
  TurnId,
} from '@holdfast/protocol';

export type SampleRequest = {
  sessionId: SessionId;
  turnId: TurnId;
  step: number;
  inputs: InputId[];
  refreshTools?: boolean;
};

export interface ModelStreamer {
  /**
   * One model reply, streamed and committed. Asking again for a committed step returns the recorded reply.
   * @throws Failure when asking again does not help; anything after an abort is ignored by the loop.
   */
  sample(request: SampleRequest, signal: AbortSignal): Promise<StepReply>;
}

export interface ToolCallHandler {
  /** Runs one call to its end, waiting for machines and approvals. Every failure is a value; it throws only after an abort. */
  run(
    request: { sessionId: SessionId; turnId: TurnId; call: CallRef },
    signal: AbortSignal,
  ): Promise<CallResult>;
}

export type TurnPorts = { model: ModelStreamer; calls: ToolCallHandler };

/** Where an engine reports events that were committed. Must not throw; may be called with several events at once, in order. */
export interface EventSink {
  publish(events: readonly SessionEvent[]): void;
}

/** The client's side of a running session, the same for every engine. */
export interface AgentSession {
  readonly sessionId: SessionId;
  /** Queues a prompt; it becomes a turn when the running one has ended. Idempotent by `inputId`. */
  submit(input: { inputId: InputId; text: string }): Promise<void>;
  /** Adds to the running turn before its next request; starts a turn when none is running. Idempotent by `inputId`. */
  steer(input: { inputId: InputId; text: string }): Promise<void>;
  /**
   * Ends the named turn now, by default the one that runs when this is called. A turn that has ended stays as it ended; one that
   * waits in the queue ends before it starts. @throws Failure session.not-running when none is named and none runs
   */
  interrupt(turn?: { turnId: TurnId }): Promise<void>;
  approve(answer: { approvalId: string; decision: ApprovalDecision }): Promise<void>;
  /** The next step sees the tools that machine and gateways offer then. */
  refreshTools(): Promise<void>;
  close(): Promise<void>;
  /** Events with `seq > after`, first the recorded ones, then live ones, without gap or repetition, until `signal` aborts. */
  events(options?: { after?: number; signal?: AbortSignal }): AsyncIterable<SessionEvent>;
}
