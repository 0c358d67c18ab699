// hosted-process.ts: one running command: its spawn, its output on disk and to those who watch, its end.
// The end is the end of the command itself. What it left in the background may go on; its further output is not kept.
import type { Child, ChildEvents } from './child.ts';
import { LiveText } from './live-text.ts';
import { OutputWriter } from './output-files.ts';
import type { OutputPipes } from './output-pipes.ts';
import { spawnPiped } from './piped-child.ts';
import { interruptGroup, killTree, toMarkedEnvironment } from './process-tree.ts';
import type { ProcessExit, ProcessSpec, TerminalSize } from './protocol.ts';
import { spawnOnTerminal } from './terminal-child.ts';

/** After the end of the command its last output is awaited as long as some comes within this time. */
const drainMs = 50;
const longestDrainMs = 2_000;

/** Ctrl-C. */
export const interruptCharacter = '\u0003';

export type Watcher = { onOutput(text: string): void; onExit(exit: ProcessExit): void };

export type HostedOptions = {
  spec: ProcessSpec;
  folder: string;
  mark: string;
  pipes: OutputPipes;
  /** Called before anything is spawned; a throw keeps it from being spawned. */
  onStart: (startedAt: number) => void;
  /** Called once, before the watchers hear of it. */
  onExit: (exit: ProcessExit) => void;
};

export class HostedProcess {
  readonly startedAt = now();
  readonly #options: HostedOptions;
  readonly #watchers = new Set<Watcher>();
  readonly #output: OutputWriter;
  readonly #live = new LiveText((text) => this.#watchers.forEach((watcher) => watcher.onOutput(text)));
  readonly #ended = Promise.withResolvers<void>();
  #child: Child | undefined;
  #outputEnded = false;
  #timeout: NodeJS.Timeout | undefined;
  #lastOutputAt = 0;
  #lastExit: LastExit | undefined;
  #killing: Promise<unknown> | undefined;
  #trouble: string | undefined;
  #result: ProcessExit | undefined;
  #end: ProcessExit['end'] = 'exited';

  /** Spawns at once. A command that cannot be spawned ends as `not-started`. @throws Error of `onStart` */
  constructor(options: HostedOptions) {
    this.#options = options;
    this.#output = new OutputWriter(options.folder);
    options.onStart(this.startedAt);
    try {
      this.#start();
    } catch (error) {
      this.#refuse(error);
    }
  }

  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Printed so far. */
  get bytes(): number {
    return this.#output.bytes;
  }

  /** Types into its terminal; without one, only Ctrl-C means something. */
  write(text: string): void {
    if (this.#child?.terminal) this.#child.terminal.write(text);
    else if (text === interruptCharacter && this.#child?.pid !== undefined) interruptGroup(this.#child.pid);
  }

  /** False when it has no terminal. */
  resize(size: TerminalSize): boolean {
    this.#child?.terminal?.resize(size);
    return this.#child?.terminal !== undefined;
  }

  /** Resolves when the command and everything it started are gone. The first reason to kill it is the one recorded. */
  async kill(end: ProcessExit['end'], graceMs: number): Promise<void> {
    if (this.#end === 'exited' && !this.#lastExit) this.#end = end;
    const killing = killTree(() => this.#target(), { graceMs });
    this.#killing = Promise.all([this.#killing, killing]);
    await killing;
    await this.#ended.promise;
  }

  #target() {
    const root = this.#result === undefined ? this.#child?.pid : undefined;
    return { mark: this.#options.mark, ...(root === undefined ? {} : { root }) };
  }

  #start(): void {
    const { spec, mark, pipes } = this.#options;
    const marked = { ...spec, env: { ...spec.env, ...toMarkedEnvironment(mark) } };
    const events = this.#toEvents();
    this.#child = spec.tty
      ? spawnOnTerminal(marked, spec.tty, events)
      : spawnPiped(marked, pipes.open(), events);
    if (spec.timeoutMs === undefined) return;
    this.#timeout = setTimeout(() => void this.kill('timed-out', 500), spec.timeoutMs);
  }

  #toEvents(): ChildEvents {
    return {
      onOutput: (chunk) => this.#receive(chunk),
      onOutputEnd: () => {
        this.#outputEnded = true;
        if (this.#lastExit) this.#finish(this.#lastExit);
      },
      onExit: (exit) => {
        this.#lastExit = { ...exit, endedAt: now() };
        if (this.#outputEnded) this.#finish(this.#lastExit);
        else this.#drain(this.#lastExit, performance.now() + longestDrainMs);
      },
      onError: (error) => this.#refuse(error),
    };
  }

  #receive(chunk: Buffer): void {
    if (this.#result) return;
    this.#lastOutputAt = performance.now();
    this.#keep(() => this.#output.append(chunk));
    this.#live.append(chunk);
  }

  /** A full disk must not end the other commands of this machine. */
  #keep(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#trouble ??= `the output could not be kept on disk: ${toMessage(error)}`;
    }
  }

  #drain(exit: LastExit, deadline: number): void {
    const seen = this.#lastOutputAt;
    setTimeout(() => {
      // What has arrived while this process was busy is read before the decision.
      setImmediate(() => {
        if (this.#lastOutputAt !== seen && performance.now() < deadline) this.#drain(exit, deadline);
        else this.#finish(exit);
      });
    }, drainMs);
  }

  #refuse(error: unknown): void {
    this.#end = 'not-started';
    this.#finish({ code: null, signal: null, endedAt: now(), detail: toMessage(error) });
  }

  /** The end is told when all that was to be killed is gone. */
  #finish(exit: LastExit): void {
    if (this.#killing) void this.#killing.then(() => this.#conclude(exit));
    else this.#conclude(exit);
  }

  #conclude(exit: LastExit): void {
    if (this.#result) return;
    clearTimeout(this.#timeout);
    this.#live.end();
    this.#output.close();
    const { bytes, lines } = this.#output;
    const detail = this.#trouble === undefined ? {} : { detail: this.#trouble };
    const result: ProcessExit = {
      end: this.#end,
      startedAt: this.startedAt,
      bytes,
      lines,
      ...detail,
      ...exit,
    };
    this.#result = result;
    this.#keep(() => this.#options.onExit(result));
    for (const watcher of this.#watchers) watcher.onExit(result);
    this.#watchers.clear();
    this.#ended.resolve();
  }
}

type LastExit = Pick<ProcessExit, 'code' | 'signal' | 'endedAt' | 'detail'>;

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
