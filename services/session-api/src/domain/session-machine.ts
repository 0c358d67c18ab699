// session-machine.ts: questions to the machine of a session; it is asked, nothing is kept.
import type { EventBus, MachineReply, MachineRequest } from '@holdfast/events';
import { Failure } from '@holdfast/failures';
import type { SessionStore } from '../ports/session-store.ts';
import type { MachineNames } from './machine-names.ts';

export type SessionMachineDeps = {
  store: Pick<SessionStore, 'readSession'>;
  bus: Pick<EventBus, 'askMachine'>;
  machines: MachineNames;
};

/** @throws Failure session.unknown, machine.offline */
export async function askSessionMachine<Request extends MachineRequest>(
  deps: SessionMachineDeps,
  request: Request,
): Promise<MachineReply<Request>> {
  const { machineId } = (await deps.store.readSession({ sessionId: request.sessionId })).settings;
  const reply = await deps.bus.askMachine(machineId, request);
  if (reply) return reply;
  const { name } = await deps.machines.resolve(machineId);
  throw new Failure('machine.offline', { detail: name });
}
