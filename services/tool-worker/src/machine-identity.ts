import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Who this machine is, over all its tool workers. */
export type MachineIdentity = {
  machineId: string;
  /** Of this process. */
  bootId: string;
  /** Boots that may still have the lease although they are dead, newest first: their successor may replace them. */
  earlierBoots: string[];
  /** To be called when the store knows this boot; the earlier ones are forgotten. */
  confirmBoot(): void;
};

const rememberedBoots = 10;

type Saved = { name: string; machineId: string; boots: string[] };

/**
 * Reads `machine.json`, makes a machine id when there is none, and notes the new boot before anybody hears of it.
 * The caller must hold the machine's lock: that is how it knows that the earlier boots are dead.
 */
export function openIdentity(options: { stateDir: string; name: string }): MachineIdentity {
  const file = join(options.stateDir, 'machine.json');
  const saved = readSaved(file);
  const machineId = saved?.machineId ?? randomUUID();
  const bootId = randomUUID();
  const earlierBoots = (saved?.boots ?? []).slice(0, rememberedBoots);
  const save = (boots: string[]) => writeSaved(file, { name: options.name, machineId, boots });
  save([bootId, ...earlierBoots]);
  return { machineId, bootId, earlierBoots, confirmBoot: () => save([bootId]) };
}

function readSaved(file: string): Saved | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  const saved = JSON.parse(text) as Partial<Saved>;
  if (typeof saved.machineId !== 'string')
    throw new Error(`${file} has no machine id; remove the file to make a new machine`);
  return { name: saved.name ?? '', machineId: saved.machineId, boots: saved.boots ?? [] };
}

function writeSaved(file: string, saved: Saved): void {
  writeFileSync(`${file}.new`, JSON.stringify(saved, undefined, 2), { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}
