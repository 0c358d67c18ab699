import { readFileSync } from 'node:fs';

// A pid alone names nothing: it is given to another process sooner or later. A pid with the time its process started
// (clock ticks since boot, field 22 of /proc/<pid>/stat) and the id of that boot does.

/** When the process started, in the kernel's own unit, or null when no such process lives. Zombies do not live. */
export function readStartTime(pid: number): string | null {
  const fields = readProc(`${pid}/stat`)
    ?.replace(/^.*\) /s, '')
    .split(' ');
  const state = fields?.[0];
  if (fields === undefined || state === 'Z' || state === 'X') return null;
  return fields[19] ?? null;
}

/** Whether the process that had this pid at this start time is still alive. */
export function isSameProcessAlive(identity: { pid: number; startTime: string }): boolean {
  return readStartTime(identity.pid) === identity.startTime;
}

/** Resident memory in MB with one decimal, or null when the process is gone. */
export function readRssMb(pid: number): number | null {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readProc(`${pid}/status`) ?? '')?.[1];
  return kilobytes === undefined ? null : Math.round(Number(kilobytes) / 102.4) / 10;
}

/** The arguments the process was started with, joined by spaces; empty when it is gone. */
export function readCommandLine(pid: number): string {
  return (readProc(`${pid}/cmdline`) ?? '').replaceAll('\0', ' ').trim();
}

/** Names this boot of the machine. */
export function readBootId(): string {
  return (readProc('sys/kernel/random/boot_id') ?? 'unknown').trim();
}

function readProc(path: string): string | null {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return null;
  }
}
