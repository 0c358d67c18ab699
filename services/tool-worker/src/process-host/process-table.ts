// process-table.ts: the kernel's list of processes. Where there is no /proc the list is empty, and only process groups are known.
import { readFileSync, readdirSync } from 'node:fs';

export type ProcessEntry = { pid: number; parent: number; group: number; session: number; startTime: string };

/** Undefined when no such process lives; zombies do not live. */
export function readProcess(pid: number): ProcessEntry | undefined {
  const stat = readProc(`${pid}/stat`);
  // The name stands in parentheses and may hold anything, so the fields are counted from the last one.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined || fields[0] === 'Z' || fields[0] === 'X') return undefined;
  const [, parent, group, session] = fields;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startTime: fields[19] ?? '',
  };
}

export function listProcesses(): ProcessEntry[] {
  return listPids().flatMap((pid) => readProcess(pid) ?? []);
}

/** True when the process was started with this text in its environment. */
export function hasInEnvironment(pid: number, text: string): boolean {
  return readProc(`${pid}/environ`)?.includes(text) ?? false;
}

/** Names this run of the operating system's kernel: what was in memory only is gone when it changes. */
export function readKernelBoot(): string {
  return (readProc('sys/kernel/random/boot_id') ?? 'unknown').trim();
}

function listPids(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(`/proc/${path}`, 'latin1');
  } catch {
    return undefined;
  }
}
