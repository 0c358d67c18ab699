// kills.ts: ends a process of the stack the hard way and measures how long it is missing.
import { setTimeout as delay } from 'node:timers/promises';
import { readStatus, type StackPaths } from '@holdfast/stack';
import { CliError, exitCodes } from '../exit-codes.ts';

export type Kill = {
  role: string;
  /** What the session was doing, for people. */
  during: string;
  /** Time of the kill, milliseconds since 1970. */
  at: number;
  pid: number;
};

export type Recovery = { pid: number; tookMs: number };

const pollMs = 50;
const patienceMs = 60_000;

/** kill -9, without a warning. */
export async function killRole(paths: StackPaths, target: { role: string; during: string }): Promise<Kill> {
  const { processes } = await readStatus(paths);
  const pid = processes.find(({ role }) => role === target.role)?.pid ?? null;
  if (pid === null)
    throw new CliError(exitCodes.failed, `The demo's ${target.role} does not run; see \`holdfast doctor\`.`);
  process.kill(pid, 'SIGKILL');
  return { ...target, at: Date.now(), pid };
}

/** Resolves when another process serves the role, or to undefined when none does within a minute. */
export async function awaitRecovery(paths: StackPaths, kill: Kill): Promise<Recovery | undefined> {
  while (Date.now() - kill.at < patienceMs) {
    const { processes } = await readStatus(paths);
    const row = processes.find(({ role }) => role === kill.role);
    if (row && row.pid !== null && row.pid !== kill.pid && row.health === 'ok') {
      return { pid: row.pid, tookMs: Date.now() - kill.at };
    }
    await delay(pollMs);
  }
  return undefined;
}
