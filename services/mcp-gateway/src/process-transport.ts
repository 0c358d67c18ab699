// process-transport.ts: an MCP server as a child process, JSON lines over its stdin and stdout.
// P1  The server leads a process group of its own; whatever ends it ends the whole group, so that wrappers such as npx leave nothing.
// P2  Where `setpriv` is there, the kernel kills the server when this process dies, also by kill -9; what the server itself started
//     then sees the end of its input and nothing else.
// P3  The end of the process is the end of the connection, even when somebody else still holds its pipes.
// P4  close() takes bounded time: end of input, then SIGTERM, then SIGKILL.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import {
  deserializeMessage,
  serializeMessage,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { LineBuffer } from './line-buffer.ts';

export type ProcessTransportOptions = {
  /** Program and arguments. */
  command: readonly [string, ...string[]];
  env: Record<string, string>;
  cwd?: string;
  /** One line that the server wrote to its stderr. */
  onLogLine: (line: string) => void;
};

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** How long a server may take to end by itself after its input ended, and after SIGTERM. */
const inputEndGraceMs = 500;
const terminateGraceMs = 1_000;
/** Output that is still in the pipes after the end of the process. */
const drainMs = 100;
/** Longest message of a server; one that sends more is ended. */
const messageLimitBytes = 64 * 1024 * 1024;
const logLineLimit = 1_000;

export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  /** How the process ended, as a clause; undefined while it runs. */
  endReason: string | undefined;
  readonly #options: ProcessTransportOptions;
  readonly #lines = new LineBuffer({ limitBytes: messageLimitBytes });
  readonly #closed = Promise.withResolvers<void>();
  #child: Child | undefined;

  constructor(options: ProcessTransportOptions) {
    this.#options = options;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Marks this transport as one that runs a process, for the version probe of the SDK. */
  get stderr(): Readable | null {
    return this.#child?.stderr ?? null;
  }

  start(): Promise<void> {
    const [program, ...args] = this.#options.command;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const child = spawn(program, args, {
      env: this.#options.env,
      ...(this.#options.cwd === undefined ? {} : { cwd: this.#options.cwd }),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child = child;
    child.once('spawn', resolve);
    child.once('error', (error) => {
      reject(error);
      this.#finish(`its program could not be started (${error.message})`);
    });
    child.once('exit', (code, signal) => this.#onExit(child, signal === null ? `exit code ${code}` : signal));
    child.stdin.on('error', (error) => this.onerror?.(error));
    child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#readLog(child.stderr);
    return promise;
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable) return Promise.reject(new Error('the process of the server has ended'));
    if (stdin.write(serializeMessage(message))) return Promise.resolve();
    return new Promise((resolve) => {
      stdin.once('drain', resolve).once('close', resolve);
    });
  }

  /** Idempotent (P4). */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.endReason !== undefined) return;
    child.stdin.end();
    if (await this.#endsWithin(inputEndGraceMs)) return;
    killGroup(child, 'SIGTERM');
    if (await this.#endsWithin(terminateGraceMs)) return;
    killGroup(child, 'SIGKILL');
    await this.#closed.promise;
  }

  #receive(chunk: Buffer): void {
    try {
      for (const line of this.#lines.push(chunk)) this.#deliver(line);
    } catch (error) {
      this.onerror?.(error as Error);
      if (this.#child) killGroup(this.#child, 'SIGKILL');
    }
  }

  /** A line that is not JSON is taken for something a library printed, and ignored. */
  #deliver(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch (error) {
      if (!(error instanceof SyntaxError)) this.onerror?.(error as Error);
      return;
    }
    this.onmessage?.(message);
  }

  #onExit(child: Child, how: string): void {
    killGroup(child, 'SIGKILL');
    const finish = () => this.#finish(`its process ended (${how})`);
    const drained = setTimeout(finish, drainMs);
    child.once('close', () => {
      clearTimeout(drained);
      finish();
    });
  }

  #finish(reason: string): void {
    if (this.endReason !== undefined) return;
    this.endReason = reason;
    this.#child?.stdin.destroy();
    this.#child?.stdout.destroy();
    this.#child?.stderr.destroy();
    this.#closed.resolve();
    this.onclose?.();
  }

  async #endsWithin(limitMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), limitMs);
    void this.#closed.promise.then(() => resolve(true));
    return promise.finally(() => clearTimeout(timer));
  }

  #readLog(stderr: Readable): void {
    let rest = '';
    stderr.setEncoding('utf8');
    stderr.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = (lines.pop() ?? '').slice(0, logLineLimit);
      for (const line of lines) if (line !== '') this.#options.onLogLine(line.slice(0, logLineLimit));
    });
  }
}

function killGroup(child: Child, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is gone already.
  }
}
