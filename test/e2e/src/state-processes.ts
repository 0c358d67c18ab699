import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Ids of the processes that belong to a stack: those that name its state folder, or work in it. A zombie is no process any more. */
export function listStateProcesses(stateDir: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && isOfState(pid, stateDir));
}

function isOfState(pid: number, stateDir: string): boolean {
  const parts = ['environ', 'cmdline'].map((name) =>
    read(() => readFileSync(`/proc/${pid}/${name}`, 'utf8')),
  );
  const cwd = read(() => readlinkSync(`/proc/${pid}/cwd`));
  return [...parts, cwd].some((text) => text.includes(stateDir));
}

/** A process may end while it is looked at. */
function read(look: () => string): string {
  try {
    return look();
  } catch {
    return '';
  }
}
