// session.ts: the queue of inputs and the turn that runs, as plain state that both engines share.
// S1  An input id is accepted once; the store is the dedupe that lasts, `recent` the one that saves a round trip.
// S2  A prompt waits for the running turn to end; a steer joins it, or becomes a prompt when none runs.
// S3  An input that a failed or cancelled turn did not record is not lost: it becomes the next turn.
import type { InputId, InputKind, SessionId } from '@holdfast/protocol';
import type { TurnState } from './turn.ts';

/** Durable: goes through continue-as-new. References only, never content; under 64 KB. */
export type SessionQueue = {
  schemaVersion: 1;
  sessionId: SessionId;
  queue: InputId[];
  turn?: TurnState;
  /** The newest accepted ids, oldest first. */
  recent: InputId[];
  refreshTools: boolean;
  closing: boolean;
};

/** How many accepted ids a session remembers itself; older repeats are caught by the store. */
const recentLimit = 200;

export function createQueue(sessionId: SessionId): SessionQueue {
  return { schemaVersion: 1, sessionId, queue: [], recent: [], refreshTools: false, closing: false };
}

function isKnownInput(session: SessionQueue, inputId: InputId): boolean {
  return session.recent.includes(inputId);
}

/** Repeats are ignored (S1). */
export function acceptInput(session: SessionQueue, input: { inputId: InputId; kind: InputKind }): void {
  if (isKnownInput(session, input.inputId)) return;
  session.recent = [...session.recent, input.inputId].slice(-recentLimit);
  if (input.kind === 'steer' && session.turn) session.turn.inputs.push(input.inputId);
  else session.queue.push(input.inputId);
}

/** The turn to run now: the one that was suspended, or a new one for the oldest queued input. */
export function takeTurn(session: SessionQueue): TurnState | undefined {
  if (session.turn) return session.turn;
  const turnId = session.queue.shift();
  if (turnId === undefined) return undefined;
  session.turn = {
    turnId,
    step: 1,
    inputs: [turnId],
    ...(session.refreshTools ? { refreshTools: true } : {}),
  };
  session.refreshTools = false;
  return session.turn;
}

/** Steers that no request has recorded go to the front of the queue (S3). */
export function endTurn(session: SessionQueue): void {
  const left = session.turn?.inputs.filter((inputId) => inputId !== session.turn?.turnId) ?? [];
  session.queue.unshift(...left);
  delete session.turn;
}

/** Takes effect at the next step (of the running turn, or of the next one). */
export function requestToolRefresh(session: SessionQueue): void {
  if (session.turn) session.turn.refreshTools = true;
  else session.refreshTools = true;
}
