import type { Input, SessionId, TurnId } from '@holdfast/protocol';

/** What a session's engine must know to be started when it does not run. */
export type SessionAddress = { sessionId: SessionId; machineId: string };

/**
 * Tells the engine of a session what the store already holds. Ids only.
 * Every message may be repeated. Resolves when the engine has taken it; rejects when `signal` aborts before.
 * @throws Failure engine.temporal-unavailable
 */
export interface SessionDelivery {
  /** Starts the engine of the session when it does not run. */
  submit(
    message: { session: SessionAddress; input: Pick<Input, 'inputId' | 'kind'> },
    signal: AbortSignal,
  ): Promise<void>;
  /** Starts the engine of the session when it does not run. `requestId` is equal for repeats of one request. */
  refreshTools(message: { session: SessionAddress; requestId: string }, signal: AbortSignal): Promise<void>;
  /** An engine that does not run, or runs another turn, needs no message: resolves. */
  interrupt(message: { sessionId: SessionId; turnId: TurnId }, signal: AbortSignal): Promise<void>;
  /** An engine that does not run needs no message: resolves. */
  approve(message: { sessionId: SessionId; approvalId: string }, signal: AbortSignal): Promise<void>;
  /** An engine that does not run needs no message: resolves. */
  close(message: { sessionId: SessionId }, signal: AbortSignal): Promise<void>;
}
