// terminals.ts: the background commands of a session; its machine is asked, nothing is kept.
import type { EventBus } from '@holdfast/events';
import { Failure } from '@holdfast/failures';
import type { BackgroundTerminal, SessionId, TerminalRequest } from '@holdfast/protocol';
import type { SessionStore } from '../ports/session-store.ts';
import type { MachineNames } from './machine-names.ts';

export type TerminalDeps = {
  store: Pick<SessionStore, 'readSession'>;
  bus: Pick<EventBus, 'askMachine'>;
  machines: MachineNames;
};

/** @throws Failure session.unknown, machine.offline */
export function listTerminals(
  deps: TerminalDeps,
  { sessionId }: { sessionId: SessionId },
): Promise<BackgroundTerminal[]> {
  return ask(deps, { op: 'list', sessionId });
}

/** One that has ended already is left as it is. @throws Failure session.unknown, terminal.unknown, machine.offline */
export async function killTerminal(
  deps: TerminalDeps,
  { sessionId, id }: { sessionId: SessionId; id: number },
): Promise<BackgroundTerminal> {
  const [terminal] = await ask(deps, { op: 'kill', sessionId, id });
  if (!terminal) throw new Failure('terminal.unknown', { detail: String(id) });
  return terminal;
}

/** Ends all that run, and returns those. @throws Failure session.unknown, machine.offline */
export function cleanTerminals(
  deps: TerminalDeps,
  { sessionId }: { sessionId: SessionId },
): Promise<BackgroundTerminal[]> {
  return ask(deps, { op: 'clean', sessionId });
}

async function ask(deps: TerminalDeps, request: TerminalRequest): Promise<BackgroundTerminal[]> {
  const { sessionId } = request;
  const { machineId } = (await deps.store.readSession({ sessionId })).settings;
  const reply = await deps.bus.askMachine(machineId, request);
  if (reply) return reply.terminals;
  const { name } = await deps.machines.resolve(machineId);
  throw new Failure('machine.offline', { detail: name });
}
