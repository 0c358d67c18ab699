// sessions.ts: what people do with sessions.
// P1  The store first: what a person asked for is kept before anybody acts on it, so that a crash in between loses nothing.
// P2  The engine second, by ids only. When it cannot be reached the answer does not wait for it; courier.ts and redelivery.ts do.
// P3  A cancel is visible as soon as the store has it, whatever the state of the engine.
import { randomUUID } from 'node:crypto';
import type { SecretBox } from '@holdfast/config';
import type { EventBus } from '@holdfast/events';
import { Failure } from '@holdfast/failures';
import type {
  Approval,
  ApprovalDecision,
  Input,
  Session,
  SessionId,
  TerminalStatus,
  TurnId,
} from '@holdfast/protocol';
import { promptLimitBytes } from '@holdfast/store-client';
import type { SessionAddress, SessionDelivery } from '../ports/session-delivery.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { NewSessionRequest } from '../public-schemas.ts';
import type { Courier } from './courier.ts';
import type { MachineNames } from './machine-names.ts';
import { toNewSession } from './new-session.ts';

export type SessionDeps = {
  store: SessionStore;
  bus: Pick<EventBus, 'publishCancel' | 'askMachine'>;
  delivery: SessionDelivery;
  courier: Courier;
  machines: MachineNames;
  secrets: SecretBox;
};

/** `delivered` is false when the input is kept but no engine has taken it yet. */
export type InputReceipt = { duplicate: boolean; delivered: boolean };

/** Idempotent by session id and input id. @throws Failure machine.unknown, machine.offline, input.too-large, input.invalid, session.closed */
export async function createSession(
  deps: SessionDeps,
  request: NewSessionRequest,
): Promise<Session & { delivered?: boolean }> {
  if (request.input) assertPromptFits(request.input.text);
  const machine = await deps.machines.resolve(request.settings.machine, {
    fresh: request.requireOnline === true,
  });
  if (request.requireOnline && !machine.online)
    throw new Failure('machine.offline', { detail: machine.name });
  const wanted = toNewSession(request, { machine, secrets: deps.secrets, now: new Date() });
  const session = await deps.store.createSession(wanted);
  if (!request.input) return toPublicSession(session);
  const input: Input = { ...request.input, kind: 'prompt' };
  await deps.store.addInput({ sessionId: session.sessionId, input }); // P1
  const delivered = await deliverInput(deps, toAddress(session), input); // P2
  return { ...toPublicSession(session), delivered };
}

/** Idempotent by input id. @throws Failure session.unknown, session.closed, input.too-large */
export async function submitInput(
  deps: SessionDeps,
  { sessionId, input }: { sessionId: SessionId; input: Input },
): Promise<InputReceipt> {
  assertPromptFits(input.text);
  const [{ duplicate }, session] = await Promise.all([
    deps.store.addInput({ sessionId, input }), // P1
    deps.store.readSession({ sessionId }),
  ]);
  return { duplicate, delivered: await deliverInput(deps, toAddress(session), input) };
}

/**
 * Ends the named turn, by default the one that runs. Idempotent by turn id: a turn that has ended stays as it ended, and the turn
 * after it is left alone. @throws Failure session.unknown, session.not-running, input.invalid (no such turn)
 */
export async function interruptTurn(
  deps: SessionDeps,
  { sessionId, turnId: named }: { sessionId: SessionId; turnId?: TurnId },
): Promise<{ turnId: TurnId; status: TerminalStatus }> {
  const session = await deps.store.readSession({ sessionId });
  const turnId = named ?? session.runningTurn;
  if (turnId === undefined) throw new Failure('session.not-running');
  const { status } = await deps.store.sealTurn({ sessionId, turnId, end: { kind: 'cancelled' } }); // P3
  if (status === 'cancelled') announceCancel(deps, session, turnId);
  deps.courier.send({
    key: `interrupt ${sessionId} ${turnId}`,
    send: (signal) => deps.delivery.interrupt({ sessionId, turnId }, signal),
  });
  return { turnId, status };
}

/** Idempotent. @throws Failure approval.unknown, approval.decided */
export async function answerApproval(
  deps: SessionDeps,
  answer: { sessionId: SessionId; approvalId: string; decision: ApprovalDecision },
): Promise<Approval> {
  const approval = await deps.store.decideApproval(answer);
  const { sessionId, approvalId } = answer;
  deps.courier.send({
    key: `approve ${sessionId} ${approvalId}`,
    send: (signal) => deps.delivery.approve({ sessionId, approvalId }, signal),
  });
  return approval;
}

/** @throws Failure session.unknown, session.closed */
export async function refreshTools(
  deps: SessionDeps,
  { sessionId }: { sessionId: SessionId },
): Promise<{ delivered: boolean }> {
  const session = await deps.store.readSession({ sessionId });
  if (session.state === 'closed') throw new Failure('session.closed');
  const message = { session: toAddress(session), requestId: randomUUID() };
  const key = `refresh-tools ${sessionId}`;
  const send = (signal: AbortSignal) => deps.delivery.refreshTools(message, signal);
  return { delivered: await deps.courier.deliver({ key, send }) };
}

/** Ends the running turn and takes no input any more; what is recorded stays readable. Idempotent. @throws Failure session.unknown */
export async function closeSession(
  deps: SessionDeps,
  { sessionId }: { sessionId: SessionId },
): Promise<Session> {
  const { runningTurn } = await deps.store.readSession({ sessionId });
  const session = await deps.store.closeSession({ sessionId });
  if (runningTurn !== undefined) announceCancel(deps, session, runningTurn);
  endTerminals(deps, session);
  deps.courier.send({
    key: `close ${sessionId}`,
    send: (signal) => deps.delivery.close({ sessionId }, signal),
  });
  return toPublicSession(session);
}

/** Without the sealed model key and the script, which are nobody's business outside. */
export function toPublicSession(session: Session): Session {
  const { name, endpoint, tools, outputStyle } = session.settings.model;
  const model = {
    name,
    ...(endpoint ? { endpoint: { baseUrl: endpoint.baseUrl } } : {}),
    ...(tools ? { tools } : {}),
    ...(outputStyle ? { outputStyle } : {}),
  };
  return { ...session, settings: { ...session.settings, model } };
}

function deliverInput(
  deps: SessionDeps,
  session: SessionAddress,
  { inputId, kind }: Pick<Input, 'inputId' | 'kind'>,
): Promise<boolean> {
  return deps.courier.deliver({
    key: `submit ${session.sessionId} ${inputId}`,
    send: (signal) => deps.delivery.submit({ session, input: { inputId, kind } }, signal),
  });
}

/** Hints to whoever may be working for the turn; the store refuses what they would write anyway. */
function announceCancel(deps: SessionDeps, session: Session, turnId: TurnId): void {
  const hint = { sessionId: session.sessionId, turnId };
  for (const audience of ['llm', 'gateway', session.settings.machineId])
    deps.bus.publishCancel(audience, hint);
}

/** A machine that cannot be reached now finds out by itself. */
function endTerminals(deps: SessionDeps, { sessionId, settings }: Session): void {
  deps.bus.askMachine(settings.machineId, { op: 'close', sessionId }).catch(() => undefined);
}

function toAddress(session: Session): SessionAddress {
  return { sessionId: session.sessionId, machineId: session.settings.machineId };
}

function assertPromptFits(text: string): void {
  if (Buffer.byteLength(text) > promptLimitBytes) throw new Failure('input.too-large');
}
