// process-host.ts: every command of one machine, by key.
// H1  A key is started at most once, also over restarts of this process: what was started and has no end is lost, not started again.
// H2  What a dead host left running is killed before anything is answered about it.
import { rmSync } from 'node:fs';
import { HostedProcess, type Watcher } from './hosted-process.ts';
import type { OutputPipes } from './output-pipes.ts';
import { ProcessLog } from './process-log.ts';
import { toMachineMark, toOutputFolder, toProcessesFolder, toProcessMark } from './process-names.ts';
import { findTree, killTree } from './process-tree.ts';
import type { ProcessSpec, ProcessState, TerminalAddress, TerminalSize } from './protocol.ts';
import { Terminals } from './terminals.ts';

/** From SIGTERM to SIGKILL for a command whose outcome nobody wants any more. */
const forgetGraceMs = 100;

export class ProcessHost {
  readonly #stateDir: string;
  readonly #mark: string;
  readonly #pipes: OutputPipes;
  readonly #log: ProcessLog;
  readonly #running = new Map<string, HostedProcess>();
  readonly #endListeners = new Set<() => void>();
  readonly terminals: Terminals;
  #closing = false;

  constructor(options: { stateDir: string; pipes: OutputPipes }) {
    this.#stateDir = options.stateDir;
    this.#mark = toMachineMark(options.stateDir);
    this.#pipes = options.pipes;
    this.#log = new ProcessLog(toProcessesFolder(options.stateDir));
    this.terminals = new Terminals({
      log: this.#log,
      status: (key) => this.status(key),
      running: (key) => this.#running.get(key),
      folderOf: (key) => toOutputFolder(this.#stateDir, key),
      forget: (key) => this.forget(key),
    });
  }

  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /** Kills what an earlier host left behind. To be awaited before the first request. */
  async recover(): Promise<void> {
    const mark = this.#mark;
    if (findTree({ mark }).length > 0) await killTree(() => ({ mark }), { graceMs: 0 });
  }

  /** @throws Error when this host ends, or when the start cannot be noted on disk */
  start(spec: ProcessSpec): ProcessState {
    const known = this.status(spec.key);
    if (known.state !== 'unknown') return known;
    if (this.#closing) throw new Error('the process host of this machine is being stopped');
    const { key } = spec;
    const started = new HostedProcess({
      spec,
      folder: toOutputFolder(this.#stateDir, key),
      mark: toProcessMark(this.#stateDir, key),
      pipes: this.#pipes,
      onStart: (startedAt) => this.#log.start({ key, startedAt, ...(spec.tty ? { tty: true } : {}) }),
      onExit: (exit) => {
        this.#running.delete(key);
        this.#log.exit(key, exit);
        if (this.#log.get(key)?.terminal?.notify) for (const listener of this.#endListeners) listener();
      },
    });
    if (!this.#log.get(key)?.exit) this.#running.set(key, started);
    return this.status(key);
  }

  status(key: string): ProcessState {
    const record = this.#log.get(key);
    if (!record) return { state: 'unknown' };
    const { startedAt, exit } = record;
    const place = record.terminal ? { inBackground: true as const } : {};
    if (exit) return { state: 'exited', exit, ...place };
    return { state: this.#running.has(key) ? 'running' : 'lost', startedAt, ...place };
  }

  /** Undefined when it does not run. */
  watch(key: string, watcher: Watcher): (() => void) | undefined {
    return this.#running.get(key)?.watch(watcher);
  }

  /** Calls the listener when a terminal has ended whose end is to be told. Returns how to end that. */
  onNotableEnd(listener: () => void): () => void {
    this.#endListeners.add(listener);
    return () => this.#endListeners.delete(listener);
  }

  async kill(key: string, graceMs: number): Promise<void> {
    await this.#running.get(key)?.kill('killed', graceMs);
  }

  list(): Record<string, ProcessState> {
    return Object.fromEntries(this.#log.keys().map((key) => [key, this.status(key)]));
  }

  async forget(key: string): Promise<void> {
    await this.kill(key, forgetGraceMs);
    const printed = this.#log.get(key)?.exit?.bytes !== 0;
    this.#log.forget(key);
    if (printed) rmSync(toOutputFolder(this.#stateDir, key), { recursive: true, force: true });
  }

  /**
   * What the call started, or read of a terminal, is not asked for any more. A command that went to the background without anybody
   * having been told is ended, and kept for whoever may know of it all the same.
   */
  async settle(request: { call: string; unread: boolean }): Promise<void> {
    const { call, unread } = request;
    const started = this.#log.get(call)?.terminal;
    const isOfTerminal = await this.terminals.settle(request);
    if (started) {
      if (unread && call in started.readings) await this.kill(call, forgetGraceMs);
    } else if (!isOfTerminal) await this.forget(call);
  }

  /** False when it has no terminal of this kind. */
  resize(address: TerminalAddress, size: TerminalSize): boolean {
    const found = this.terminals.find(address);
    return (found && this.#running.get(found.key)?.resize(size)) ?? false;
  }

  /** Kills every command and whatever any command left in the background. */
  async close(options: { graceMs: number }): Promise<void> {
    this.#closing = true;
    const mark = this.#mark;
    await Promise.all([...this.#running.values()].map((running) => running.kill('stopped', options.graceMs)));
    if (findTree({ mark }).length > 0) await killTree(() => ({ mark }), options);
    this.#pipes.remove();
  }
}
