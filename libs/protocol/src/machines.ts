import type { Catalog } from './tools.ts';

/** A machine runs tools on a queue of its own; a gateway holds MCP servers for everybody. */
export type MachineKind = 'machine' | 'gateway';

export type MachineCapabilities = {
  platform: string;
  arch: string;
  hostname: string;
  workspace: string;
  protocol: number;
};

export type MachineRegistration = {
  machineId: string;
  kind: MachineKind;
  /** What people type; unique. */
  name: string;
  /** New for each process; a lease belongs to one boot. */
  bootId: string;
  /** The boot that this process knows to be dead, because it holds the lock of the machine's state folder. */
  replaces?: string;
  catalog: Catalog;
  capabilities: MachineCapabilities;
};

export type Machine = {
  machineId: string;
  kind: MachineKind;
  name: string;
  bootId: string;
  online: boolean;
  lastSeenAt: string;
  capabilities: MachineCapabilities;
  tools: string[];
};
