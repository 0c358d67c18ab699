import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Env } from '@holdfast/config';
import { waitForLock } from '@holdfast/kernel-lock';
import { callSupervisor } from './control/client.ts';
import type { ControlRequest } from './control/messages.ts';
import { assertStateFolderUsable, ensureStateFolders, type StackPaths } from './paths.ts';
import type { ProcessSpec } from './plan.ts';
import { isSameProcessAlive } from './process-identity.ts';
import { endSurvivors, listSurvivors, readRecord, signalIfAlive } from './process-record.ts';
import { ALREADY_RUNNING } from './run-supervisor.ts';
import { ensureSecrets, type Secrets } from './secrets.ts';
import { StackError, stackCodes } from './stack-error.ts';
import { readFailure, readStackFile, type StackFile, toStackCode } from './stack-file.ts';
import { logFileOf, openLog, readLastLines } from './supervisor/log-file.ts';

/** A running stack: what stack.json says, the credentials, and whether this call started it. */
export type StackInfo = StackFile & { secrets: Secrets; started: boolean };

export type EnsureStackOptions = {
  paths: StackPaths;
  /** Environment of the supervisor when it has to be started. */
  env: Env;
  /** The program whose main function is `runSupervisor` for the same `root`: a TypeScript or JavaScript file. */
  supervisorEntry: string;
  /** Receives one line for each thing that happens while the stack starts; nothing when it is up already. */
  onProgress?: (line: string) => void;
};

const POLL_MS = 25;
const STOP_TIMEOUT_MS = 30_000;
const SURVIVOR_PATIENCE_MS = 2_000;

/**
 * Makes sure that the stack is up and resolves when everything serves. Idempotent: an up stack is found in milliseconds,
 * and of two callers at once one starts it while the other waits for the same start. The stack outlives the caller.
 * Throws a `StackError` that says what to do.
 */
export async function ensureStack(options: EnsureStackOptions): Promise<StackInfo> {
  const { paths, onProgress } = options;
  await ensureStateFolders(paths);
  let launched: Launched | null = null;
  let info: StackFile | null = null;
  try {
    while (info === null) {
      const reply = await callSupervisor(
        paths,
        { op: 'watch' },
        onProgress === undefined ? {} : { onProgress },
      );
      if (reply?.kind === 'failed') throw new StackError(toStackCode(reply.code), reply.message);
      info = reply?.kind === 'ready' ? readStackFile(paths.stackFile) : null;
      if (info !== null) break;
      if (launched === null || launched.exitCode === ALREADY_RUNNING) launched = launchSupervisor(options);
      else if (launched.exitCode !== null) throw readFailure(paths.failureFile) ?? supervisorEnded(paths);
      await delay(POLL_MS);
    }
    return { ...info, secrets: ensureSecrets(paths.secretsFile), started: launched?.child.pid === info.pid };
  } finally {
    await endUnlessServing(launched, info);
  }
}

type Launched = { child: ChildProcess; exitCode: number | null };

function launchSupervisor({ paths, env, supervisorEntry }: EnsureStackOptions): Launched {
  rmSync(paths.failureFile, { force: true });
  const log = openLog(logFileOf(paths.logsDir, 'supervisor'));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', supervisorEntry], {
    cwd: paths.root,
    // Both processes must mean the same folder, wherever they run.
    env: { ...env, HOLDFAST_STATE_DIR: paths.stateDir },
    stdio: ['ignore', log, log],
    // Its own session: Ctrl-C in the caller's terminal does not reach it.
    detached: true,
  });
  closeSync(log);
  const launched: Launched = { child, exitCode: null };
  child.once('error', () => (launched.exitCode = 1));
  child.once('exit', (code) => (launched.exitCode = code ?? 1));
  child.unref();
  return launched;
}

/** A supervisor that lost the race must not win it later, when the stack was stopped and nobody wants it up. */
async function endUnlessServing(launched: Launched | null, info: StackFile | null): Promise<void> {
  if (launched === null || launched.exitCode !== null || launched.child.pid === info?.pid) return;
  const exited = once(launched.child, 'exit');
  launched.child.ref();
  launched.child.kill('SIGTERM');
  await exited;
}

function supervisorEnded(paths: StackPaths): StackError {
  const log = logFileOf(paths.logsDir, 'supervisor');
  const last = readLastLines(log, 1)[0] ?? 'no output';
  return new StackError(
    stackCodes.startFailed,
    `The supervisor ended while it started ("${last.slice(0, 300)}"); see ${log}.`,
  );
}

/**
 * Stops the stack and resolves when every process of it is gone; what it stored stays. Also clears away what a killed
 * supervisor left. `stopped` is false when there was nothing to stop. Throws `stack.state-unreadable`.
 */
export async function stopStack({ paths }: { paths: StackPaths }): Promise<{ stopped: boolean }> {
  await assertStateFolderUsable(paths);
  const reply = await callSupervisor(paths, { op: 'stop' }, { timeoutMs: STOP_TIMEOUT_MS });
  const record = readRecord(paths.recordFile);
  const supervisor = record !== null && isSameProcessAlive(record.supervisor) ? record.supervisor : null;
  if (reply === null && supervisor === null && listSurvivors(record).length === 0) return { stopped: false };
  if (supervisor !== null) await waitForEnd(supervisor);
  const lock = await waitForLock(paths.lockFile, AbortSignal.timeout(STOP_TIMEOUT_MS));
  try {
    await endSurvivors(record, { patienceMs: SURVIVOR_PATIENCE_MS, onProgress: () => undefined });
  } finally {
    lock.release();
  }
  return { stopped: true };
}

/** The supervisor ends by itself once it answered; one that hangs is killed, and its processes with it. */
async function waitForEnd(supervisor: { pid: number; startTime: string }): Promise<void> {
  const deadline = Date.now() + SURVIVOR_PATIENCE_MS;
  while (isSameProcessAlive(supervisor)) {
    if (Date.now() > deadline) signalIfAlive(supervisor.pid, 'SIGKILL');
    await delay(POLL_MS);
  }
}

/** Adds a process to the running stack and resolves when it serves; its readiness is `http` or `tcp`. */
export async function addProcess({ paths, spec }: { paths: StackPaths; spec: ProcessSpec }): Promise<void> {
  const { readiness } = spec;
  if (readiness.kind === 'probe') {
    throw new StackError(
      stackCodes.startFailed,
      `${spec.name} has a probe, which cannot be sent: use http or tcp.`,
    );
  }
  await change(paths, { op: 'add-process', spec: { ...spec, readiness } });
}

/** Stops one process of the running stack for good. */
export async function removeProcess({ paths, name }: { paths: StackPaths; name: string }): Promise<void> {
  await change(paths, { op: 'remove-process', name });
}

async function change(paths: StackPaths, request: ControlRequest): Promise<void> {
  const reply = await callSupervisor(paths, request);
  if (reply?.kind === 'failed') throw new StackError(toStackCode(reply.code), reply.message);
  if (reply === null)
    throw new StackError(stackCodes.startFailed, 'The stack is not up: start it with `holdfast up`.');
}
