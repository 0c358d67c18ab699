// process-host.ts: every command of one machine, by key.
// H1  A key is started at most once, also over restarts of this process: what was started and has no end is lost, not started again.
// H2  What a dead host left running is killed before anything is answered about it.
import { rmSync } from 'node:fs';
import { HostedProcess, type Watcher } from './hosted-process.ts';
import type { OutputPipes } from './output-pipes.ts';
import { ProcessLog } from './process-log.ts';
import { toMachineMark, toOutputFolder, toProcessesFolder, toProcessMark } from './process-names.ts';
import { findTree, killTree } from './process-tree.ts';
import type { ProcessSpec, ProcessState } from './protocol.ts';

/** From SIGTERM to SIGKILL for a command whose outcome nobody wants any more. */
const forgetGraceMs = 100;

export class ProcessHost {
  readonly #stateDir: string;
  readonly #mark: string;
  readonly #pipes: OutputPipes;
  readonly #log: ProcessLog;
  readonly #running = new Map<string, HostedProcess>();
  #closing = false;

  constructor(options: { stateDir: string; pipes: OutputPipes }) {
    this.#stateDir = options.stateDir;
    this.#mark = toMachineMark(options.stateDir);
    this.#pipes = options.pipes;
    this.#log = new ProcessLog(toProcessesFolder(options.stateDir));
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
      onStart: (startedAt) => this.#log.start(key, startedAt),
      onExit: (exit) => {
        this.#running.delete(key);
        this.#log.exit(key, exit);
      },
    });
    if (!this.#log.get(key)?.exit) this.#running.set(key, started);
    return this.status(key);
  }

  status(key: string): ProcessState {
    const record = this.#log.get(key);
    if (!record) return { state: 'unknown' };
    if (record.exit) return { state: 'exited', exit: record.exit };
    const { startedAt } = record;
    return { state: this.#running.has(key) ? 'running' : 'lost', startedAt };
  }

  /** Undefined when it does not run. */
  watch(key: string, watcher: Watcher): (() => void) | undefined {
    return this.#running.get(key)?.watch(watcher);
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

  /** Kills every command and whatever any command left in the background. */
  async close(options: { graceMs: number }): Promise<void> {
    this.#closing = true;
    const mark = this.#mark;
    await Promise.all([...this.#running.values()].map((running) => running.kill('stopped', options.graceMs)));
    if (findTree({ mark }).length > 0) await killTree(() => ({ mark }), options);
    this.#pipes.remove();
  }
}
