import { Failure } from '@holdfast/failures';
import type { Machine } from '@holdfast/protocol';
import type { SessionStore } from '../ports/session-store.ts';

/** People name machines; sessions are bound to ids. */
export type MachineNames = {
  /**
   * The machine with this name or id; without one, the only machine there is. `fresh`: whether it is online is asked now.
   * @throws Failure machine.unknown, with the known names
   */
  resolve(nameOrId: string | undefined, options?: { fresh: boolean }): Promise<Machine>;
};

/** A new machine is found at once, because an unknown name asks the store again; only what is known may be this old. */
const maxAgeMs = 5_000;

export function createMachineNames(store: Pick<SessionStore, 'listMachines'>): MachineNames {
  let known: { machines: Machine[]; readAt: number } = { machines: [], readAt: -maxAgeMs };
  const read = async () => {
    const machines = (await store.listMachines()).filter(({ kind }) => kind === 'machine');
    known = { machines, readAt: performance.now() };
    return machines;
  };
  return {
    resolve: async (nameOrId, options = { fresh: false }) => {
      const isKept = !options.fresh && performance.now() - known.readAt < maxAgeMs;
      const machine = isKept && nameOrId !== undefined ? find(known.machines, nameOrId) : undefined;
      if (machine) return machine;
      const machines = await read();
      const found = find(machines, nameOrId);
      if (!found) throw new Failure('machine.unknown', { detail: toDetail(machines, nameOrId) });
      return found;
    },
  };
}

function find(machines: readonly Machine[], nameOrId: string | undefined): Machine | undefined {
  if (nameOrId === undefined) return machines.length === 1 ? machines[0] : undefined;
  return (
    machines.find(({ name }) => name === nameOrId) ?? machines.find(({ machineId }) => machineId === nameOrId)
  );
}

function toDetail(machines: readonly Machine[], nameOrId: string | undefined): string {
  const asked = nameOrId === undefined ? 'no machine was named' : `no machine is named ${nameOrId}`;
  if (machines.length === 0) return `${asked}; none is known yet`;
  return `${asked}; known: ${machines.map(({ name }) => name).join(', ')}`;
}
