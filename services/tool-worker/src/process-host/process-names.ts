import { hash } from 'node:crypto';
import { join } from 'node:path';

/** Where a machine keeps what its commands leave. */
export function toProcessesFolder(stateDir: string): string {
  return join(stateDir, 'processes');
}

/** The folder of the output of one process; absent when it printed nothing. */
export function toOutputFolder(stateDir: string, key: string): string {
  return join(toProcessesFolder(stateDir), toKeyHash(key));
}

/** What the environment of every process of a machine is marked with begins like this. */
export function toMachineMark(stateDir: string): string {
  return `${hash('sha256', stateDir).slice(0, 16)}.`;
}

export function toProcessMark(stateDir: string, key: string): string {
  return toMachineMark(stateDir) + toKeyHash(key);
}

function toKeyHash(key: string): string {
  return hash('sha256', key).slice(0, 32);
}
