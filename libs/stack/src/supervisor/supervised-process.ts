// supervised-process.ts: one process of the stack, kept alive.
// Owns: its child process, its log, when it is restarted, how it is stopped.
// Does not own: the order among processes (supervisor.ts), what the record file looks like (process-record.ts).
// S1  A process that ends is started again at once; only if it keeps ending, after 0.2 s, 0.4 s … 5 s.
// S2  A process that served for 10 s has earned an immediate restart again.
// S3  Until it served for the first time, three ends or a minute without service are a failure of the start; the minute begins
//     when everything is prepared, because a first preparation takes what the disk takes.
// S4  After stop() resolves the process is gone and is not started again.
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessSpec } from '../plan.ts';
import { isReady } from '../readiness.ts';
import { StackError, stackCodes, systemReason } from '../stack-error.ts';
import { openLog, readLastLines } from './log-file.ts';

const READINESS_POLL_MS = 25;
const HEALTHY_MS = 10_000;
const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 5_000;
const ENDS_BEFORE_FAILURE = 3;
const START_TIMEOUT_MS = 60_000;

type ProcessState =
  | { kind: 'down' }
  | { kind: 'starting'; pid: number }
  | { kind: 'serving'; pid: number }
  | { kind: 'waiting-to-restart' }
  | { kind: 'stopped' };

export type SupervisedProcessOptions = {
  spec: ProcessSpec;
  logFile: string;
  /** Called with the pid of every start, before the process is waited for. */
  onSpawn: (pid: number) => void;
  /** Called when the process ended although nobody stopped it. */
  onDeath?: (reason: string) => void;
  startTimeoutMs?: number;
};

/** How long to wait before the next start after so many lives without lasting health (0 = it was healthy). */
export function toRestartDelayMs(shortLives: number): number {
  return shortLives === 0 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (shortLives - 1), LONGEST_DELAY_MS);
}

export class SupervisedProcess {
  readonly spec: ProcessSpec;
  readonly #options: SupervisedProcessOptions;
  readonly #stopping = new AbortController();
  readonly #firstService = Promise.withResolvers<void>();
  #state: ProcessState = { kind: 'down' };
  #child: ChildProcess | null = null;
  #served = false;
  #startLimit: NodeJS.Timeout | undefined;
  #starts = 0;
  #life: Promise<void> | null = null;

  constructor(options: SupervisedProcessOptions) {
    this.spec = options.spec;
    this.#options = options;
    // A failure nobody waits for any more (the stack is being stopped) is not an unhandled rejection.
    this.#firstService.promise.catch(() => undefined);
  }

  get pid(): number | null {
    return this.#state.kind === 'starting' || this.#state.kind === 'serving' ? this.#state.pid : null;
  }

  get restarts(): number {
    return Math.max(0, this.#starts - 1);
  }

  /** `ok` is what was last seen; `failed` means that it ended and waits for its next start. */
  get health(): 'ok' | 'starting' | 'failed' {
    switch (this.#state.kind) {
      case 'serving':
        return 'ok';
      case 'down':
      case 'starting':
        return 'starting';
      case 'waiting-to-restart':
      case 'stopped':
        return 'failed';
    }
  }

  /** Starts the process and resolves when it serves for the first time; rejects with `stack.start-failed` (S3). */
  start(): Promise<void> {
    this.#life ??= this.#live();
    return this.#firstService.promise;
  }

  /** Sends the stop signal, then SIGKILL after the timeout; resolves when the process is gone (S4). Idempotent. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const child = this.#child;
    child?.kill(this.spec.stopSignal);
    const lastResort = setTimeout(() => child?.kill('SIGKILL'), this.spec.stopTimeoutMs);
    await this.#life;
    clearTimeout(lastResort);
    this.#state = { kind: 'stopped' };
    this.#fail(`${this.spec.name} was stopped before it served`);
  }

  async #live(): Promise<void> {
    let shortLives = 0;
    let ends = 0;
    try {
      while (!this.#stopping.signal.aborted) {
        const { servedMs, reason } = await this.#liveOnce();
        if (this.#stopping.signal.aborted) return;
        this.#options.onDeath?.(reason);
        ends += 1;
        if (!this.#served && ends >= ENDS_BEFORE_FAILURE)
          this.#fail(`${this.spec.name} does not start (${reason})`);
        shortLives = servedMs >= HEALTHY_MS ? 0 : shortLives;
        this.#state = { kind: 'waiting-to-restart' };
        await this.#pause(toRestartDelayMs(shortLives));
        shortLives += 1;
      }
    } finally {
      clearTimeout(this.#startLimit);
    }
  }

  #limitStart(): NodeJS.Timeout {
    const timeoutMs = this.#options.startTimeoutMs ?? START_TIMEOUT_MS;
    return setTimeout(
      () => this.#fail(`${this.spec.name} did not serve within ${timeoutMs / 1_000} s`),
      timeoutMs,
    );
  }

  async #liveOnce(): Promise<{ servedMs: number; reason: string }> {
    let child: ChildProcess;
    try {
      await this.spec.prepare?.();
      this.#startLimit ??= this.#limitStart();
      if (this.#stopping.signal.aborted) return { servedMs: 0, reason: 'stopped' };
      child = this.#spawn();
    } catch (error) {
      return { servedMs: 0, reason: error instanceof StackError ? error.message : systemReason(error) };
    }
    const ended = Promise.withResolvers<string>();
    child.once('error', (error) => ended.resolve(systemReason(error)));
    child.once('exit', (code, signal) =>
      ended.resolve(signal === null ? `exit code ${code}` : `signal ${signal}`),
    );
    if (child.pid !== undefined) {
      this.#state = { kind: 'starting', pid: child.pid };
      this.#options.onSpawn(child.pid);
    }
    const ending = { at: 0 };
    const reasonPromise = ended.promise.finally(() => (ending.at = Date.now()));
    const servingSince =
      child.pid === undefined ? null : await this.#awaitService(child.pid, reasonPromise, ending);
    const reason = await reasonPromise;
    this.#child = null;
    return { servedMs: servingSince === null ? 0 : ending.at - servingSince, reason };
  }

  #spawn(): ChildProcess {
    const { command, args, cwd, env, parentPipe } = this.spec;
    const log = openLog(this.#options.logFile);
    try {
      const child = spawn(command, args, {
        cwd,
        env: parentPipe ? { ...env, HOLDFAST_PARENT_PIPE: '1' } : env,
        stdio: [parentPipe ? 'pipe' : 'ignore', log, log],
      });
      // The pipe only exists to end with this process; that its other end went away first is no news.
      child.stdin?.on('error', () => undefined);
      this.#child = child;
      this.#starts += 1;
      return child;
    } finally {
      closeSync(log);
    }
  }

  /** The time since which the process serves, or null when it ended before. */
  async #awaitService(pid: number, ended: Promise<string>, ending: { at: number }): Promise<number | null> {
    while (ending.at === 0) {
      try {
        if ((await isReady(this.spec.readiness)) && ending.at === 0) break;
      } catch (error) {
        this.#fail(error instanceof StackError ? error.message : systemReason(error));
      }
      await Promise.race([delay(READINESS_POLL_MS), ended]);
    }
    if (ending.at !== 0) return null;
    this.#served = true;
    this.#state = { kind: 'serving', pid };
    this.#firstService.resolve();
    return Date.now();
  }

  async #pause(ms: number): Promise<void> {
    if (ms === 0) return;
    await delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  #fail(problem: string): void {
    const last = readLastLines(this.#options.logFile, 1)[0];
    const detail = last === undefined ? '' : `; its last line is "${last.slice(0, 300)}"`;
    this.#firstService.reject(
      new StackError(stackCodes.startFailed, `${problem}${detail}; see ${this.#options.logFile}.`),
    );
  }
}
