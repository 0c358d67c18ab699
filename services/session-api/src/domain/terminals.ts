// terminals.ts: the background commands of a session; its machine is asked, nothing is kept.
import { Failure } from '@holdfast/failures';
import type { BackgroundTerminal, SessionId, TerminalRequest } from '@holdfast/protocol';
import { askSessionMachine, type SessionMachineDeps } from './session-machine.ts';

/** @throws Failure session.unknown, machine.offline */
export function listTerminals(
  deps: SessionMachineDeps,
  { sessionId }: { sessionId: SessionId },
): Promise<BackgroundTerminal[]> {
  return ask(deps, { op: 'list', sessionId });
}

/** One that has ended already is left as it is. @throws Failure session.unknown, terminal.unknown, machine.offline */
export async function killTerminal(
  deps: SessionMachineDeps,
  { sessionId, id }: { sessionId: SessionId; id: number },
): Promise<BackgroundTerminal> {
  const [terminal] = await ask(deps, { op: 'kill', sessionId, id });
  if (!terminal) throw new Failure('terminal.unknown', { detail: String(id) });
  return terminal;
}

/** Ends all that run, and returns those. @throws Failure session.unknown, machine.offline */
export function cleanTerminals(
  deps: SessionMachineDeps,
  { sessionId }: { sessionId: SessionId },
): Promise<BackgroundTerminal[]> {
  return ask(deps, { op: 'clean', sessionId });
}

async function ask(deps: SessionMachineDeps, request: TerminalRequest): Promise<BackgroundTerminal[]> {
  return (await askSessionMachine(deps, request)).terminals;
}
