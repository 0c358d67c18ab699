// process-tree.ts: finds and kills a process with everything it started.
// A descendant can leave the group and the session (setsid) and lose its parent (a double fork), so four traits count: the
// group, the session, the chain of parents, and a mark in the environment that every descendant inherits.
import { setTimeout as delay } from 'node:timers/promises';
import { hasInEnvironment, listProcesses } from './process-table.ts';

const markVariable = 'HOLDFAST_PROCESS';
const pollMs = 10;
const killRounds = 100;

export type TreeTarget = {
  /** Leader of its own session, as long as its pid is surely its own. */
  root?: number;
  /** A whole mark, or its beginning. */
  mark: string;
};

/** The environment that marks a process and its descendants. */
export function toMarkedEnvironment(mark: string): Record<string, string> {
  return { [markVariable]: mark };
}

/** Living members, never this process itself. */
export function findTree({ root, mark }: TreeTarget): number[] {
  const processes = listProcesses();
  const members = new Set<number>();
  for (const { pid, group, session } of processes) {
    const isNear = root !== undefined && (pid === root || group === root || session === root);
    if (isNear || hasInEnvironment(pid, `${markVariable}=${mark}`)) members.add(pid);
  }
  for (let known = -1; known !== members.size;) {
    known = members.size;
    for (const { pid, parent } of processes) if (members.has(parent)) members.add(pid);
  }
  members.delete(process.pid);
  return [...members];
}

/**
 * SIGTERM, and after the grace SIGKILL until nothing is left, also of what was started meanwhile.
 * @param find looks again every time, so that it may follow what is known of the root
 */
export async function killTree(find: () => TreeTarget, options: { graceMs: number }): Promise<void> {
  const deadline = performance.now() + options.graceMs;
  signalTree(find(), 'SIGTERM');
  while (performance.now() < deadline) {
    await delay(pollMs);
    if (findTree(find()).length === 0) return;
  }
  for (let round = 0; round < killRounds; round += 1) {
    if (signalTree(find(), 'SIGKILL') === 0) return;
    await delay(pollMs);
  }
}

/** What Ctrl-C does in a terminal. */
export function interruptGroup(leader: number): void {
  send(-leader, 'SIGINT');
}

function signalTree(target: TreeTarget, signal: 'SIGTERM' | 'SIGKILL'): number {
  const members = findTree(target);
  if (target.root !== undefined) send(-target.root, signal);
  for (const pid of members) send(pid, signal);
  return members.length;
}

function send(pid: number, signal: 'SIGTERM' | 'SIGKILL' | 'SIGINT'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended in between.
  }
}
