import { createHash } from 'node:crypto';
import type { BlobStore, MachineDirectory } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import type { Machine, MachineRegistration } from '@holdfast/protocol';
import { toCleanText } from '../../clean-text.ts';
import { leaseMs } from '../../lease.ts';
import type { MachineRow, MemoryState } from './state.ts';

/** A name is at most 63 characters; this many are kept when `-` and four hex digits are appended. */
const keptNameLength = 58;

export function createMachineDirectory(state: MemoryState): MachineDirectory {
  return {
    registerMachine: async (request) => {
      registerMachine(state, request);
      return { leaseMs };
    },
    renewLease: async ({ machineId, bootId }) => {
      const machine = findHeld(state, { machineId, bootId });
      if (!machine) throw new Failure('machine.lease-lost');
      machine.lastSeenAt = state.now();
      machine.leaseExpiresAt = state.now() + leaseMs;
      return { leaseMs };
    },
    releaseLease: async (holder) => {
      const machine = findHeld(state, holder);
      if (!machine || machine.leaseExpiresAt <= state.now()) return;
      machine.leaseExpiresAt = state.now();
      machine.lastSeenAt = state.now();
    },
    listMachines: async () =>
      [...state.machines.values()]
        .toSorted((one, other) => (one.name < other.name ? -1 : 1))
        .map((machine) => toMachine(state, machine)),
    readCatalog: async ({ digest }) => {
      const catalog = state.catalogs.get(digest);
      if (!catalog) throw new Failure('catalog.unknown');
      return catalog;
    },
  };
}

function findHeld(state: MemoryState, holder: { machineId: string; bootId: string }): MachineRow | undefined {
  const machine = state.machines.get(holder.machineId);
  return machine?.bootId === holder.bootId ? machine : undefined;
}

/** The name of a machine whose lease ran out moves to the newcomer; the old row is called `<name>-<4 hex digits of its id>`. */
function registerMachine(state: MemoryState, request: MachineRegistration): void {
  const { replaces, catalog, ...identity } = request;
  const now = state.now();
  const known = state.machines.get(request.machineId);
  const isHeld =
    known && known.leaseExpiresAt > now && known.bootId !== request.bootId && known.bootId !== replaces;
  if (isHeld) throw new Failure('machine.lease-held', { detail: known.name });
  const namesake = findByName(state, request.name);
  if (namesake && namesake.machineId !== request.machineId) {
    if (namesake.leaseExpiresAt > now) throw new Failure('machine.lease-held', { detail: namesake.name });
    namesake.name = toFreeName(state, namesake);
  }
  if (!state.catalogs.has(catalog.digest)) state.catalogs.set(catalog.digest, catalog);
  state.machines.set(request.machineId, {
    ...identity,
    catalogDigest: catalog.digest,
    leaseExpiresAt: now + leaseMs,
    lastSeenAt: now,
  });
}

function findByName(state: MemoryState, name: string): MachineRow | undefined {
  return [...state.machines.values()].find((machine) => machine.name === name);
}

function toFreeName(state: MemoryState, machine: MachineRow): string {
  for (let attempt = 0; ; attempt += 1) {
    const mark = createHash('md5').update(`${machine.machineId}${attempt}`).digest('hex').slice(0, 4);
    const name = `${machine.name.slice(0, keptNameLength)}-${mark}`;
    if (!findByName(state, name)) return name;
  }
}

function toMachine(state: MemoryState, machine: MachineRow): Machine {
  const { machineId, kind, name, bootId, capabilities } = machine;
  const tools = state.catalogs.get(machine.catalogDigest)?.tools.map((tool) => tool.name) ?? [];
  const lastSeenAt = new Date(machine.lastSeenAt).toISOString();
  return {
    machineId,
    kind,
    name,
    bootId,
    online: machine.leaseExpiresAt > state.now(),
    lastSeenAt,
    capabilities,
    tools,
  };
}

export function createBlobStore(state: MemoryState): BlobStore {
  return {
    putBlob: async ({ bytes, mediaType }) => {
      const digest = createHash('sha256').update(bytes).digest('hex');
      if (!state.blobs.has(digest))
        state.blobs.set(digest, { bytes: bytes.slice(), mediaType: toCleanText(mediaType) });
      return { digest, size: bytes.byteLength };
    },
    readBlob: async ({ digest }) => {
      const blob = state.blobs.get(digest);
      if (!blob) throw new Failure('blob.unknown');
      return { bytes: blob.bytes.slice(), mediaType: blob.mediaType };
    },
  };
}
