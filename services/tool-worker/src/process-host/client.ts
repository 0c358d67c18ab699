// client.ts: the tool worker's side of its process host. Connects on first use, starts the host when there is none, and again when it died.
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { readJsonLines, writeJsonLine } from './json-lines.ts';
import { launchHost, type LaunchOptions } from './launch.ts';
import { readLog } from './process-log.ts';
import { toOutputFolder, toProcessesFolder } from './process-names.ts';
import type { HostMessage, HostRequest, ProcessExit, ProcessSpec, ProcessState } from './protocol.ts';
import { toRuntimePaths } from './runtime-paths.ts';

/** `lost`: the host died while the process ran, or before it could say that it started. */
export type ProcessOutcome = { state: 'exited'; exit: ProcessExit } | { state: 'lost'; startedAt: number };

export type ProcessWatch = {
  onOutput: (text: string) => void;
  /** Kills the process with everything it started; the outcome then says so. */
  signal: AbortSignal;
};

type Pending = { resolve: (states: Record<string, ProcessState>) => void; reject: (error: Error) => void };
type Watched = { onOutput: (text: string) => void; onExit: (exit: ProcessExit) => void; onLost: () => void };
type Connection = { socket: Socket; pending: Map<number, Pending>; watched: Map<string, Watched> };
type RequestBody = HostRequest extends infer R ? (R extends { id: number } ? Omit<R, 'id'> : never) : never;

/** From SIGTERM to SIGKILL when a person interrupts. */
const interruptGraceMs = 100;
const followAttempts = 3;
const hostGone = 'the process host is gone';
const connectAttempts = 20;
const connectPauseMs = 100;

export class ProcessHostClient {
  readonly #options: LaunchOptions;
  #connection: Promise<Connection> | undefined;
  #lastId = 0;
  #closed = false;

  constructor(options: LaunchOptions) {
    this.#options = options;
  }

  /** Resolves when the host answers. @throws Error when it cannot be started */
  async ready(): Promise<void> {
    await this.#connect();
  }

  /**
   * Starts the process or attaches to it, and waits for its end. Idempotent by key, so a host that died meanwhile is simply asked again.
   * @throws Error when there is no host to be had, or when the host refuses
   */
  async run(process: ProcessSpec, watch: ProcessWatch): Promise<ProcessOutcome> {
    const outcome = await this.#follow({ op: 'start', process }, process.key, watch);
    if (outcome.state === 'unknown') throw new Error(hostGone);
    return outcome;
  }

  /** Waits for the end of a process that was started before; starts nothing. @throws Error when there is no host to be had */
  attach(key: string, watch: ProcessWatch): Promise<ProcessOutcome | { state: 'unknown' }> {
    return this.#follow({ op: 'attach', key }, key, watch);
  }

  async #follow(
    request: RequestBody,
    key: string,
    watch: ProcessWatch,
  ): Promise<ProcessOutcome | { state: 'unknown' }> {
    const kill = () => void this.kill(key).catch(() => undefined);
    watch.signal.addEventListener('abort', kill, { once: true });
    try {
      for (let attempt = 1; ; attempt += 1) {
        const connection = await this.#connect();
        try {
          return await this.#followOn(connection, { request, key, watch });
        } catch (error) {
          if (!connection.socket.destroyed || attempt === followAttempts) throw error;
        }
      }
    } finally {
      watch.signal.removeEventListener('abort', kill);
    }
  }

  async #followOn(
    connection: Connection,
    { request, key, watch }: { request: RequestBody; key: string; watch: ProcessWatch },
  ): Promise<ProcessOutcome | { state: 'unknown' }> {
    const ended = Promise.withResolvers<ProcessExit>();
    ended.promise.catch(() => undefined);
    connection.watched.set(key, {
      onOutput: watch.onOutput,
      onExit: (exit) => ended.resolve(exit),
      onLost: () => ended.reject(new Error(hostGone)),
    });
    try {
      const state = await this.#ask(connection, request, key);
      if (state.state !== 'running') return state;
      if (watch.signal.aborted) await this.kill(key);
      return { state: 'exited', exit: await ended.promise };
    } finally {
      connection.watched.delete(key);
    }
  }

  async status(key: string): Promise<ProcessState> {
    return this.#ask(await this.#connect(), { op: 'status', key }, key);
  }

  /** Resolves when nothing of the process is left. */
  async kill(key: string, graceMs = interruptGraceMs): Promise<void> {
    await this.#ask(await this.#connect(), { op: 'kill', key, graceMs }, key);
  }

  async list(): Promise<Record<string, ProcessState>> {
    return this.#request(await this.#connect(), { op: 'list' });
  }

  async forget(key: string): Promise<void> {
    await this.#request(await this.#connect(), { op: 'forget', key });
  }

  /** Where the output of this key is kept. */
  folderOf(key: string): string {
    return toOutputFolder(this.#options.stateDir, key);
  }

  /** What is on disk, without a host: false when the key was certainly never started since the system did. */
  mayHaveStarted(key: string): boolean {
    return readLog(toProcessesFolder(this.#options.stateDir)).has(key);
  }

  /** Leaves the host alone, or ends it with everything that runs in it, also when this client has never talked to it. Idempotent. */
  async close(options: { stopHost: boolean }): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const connection = (await this.#connection?.catch(() => undefined)) ?? (await this.#findHost());
    if (!connection) return;
    if (options.stopHost) {
      const gone = new Promise((resolve) => connection.socket.once('close', resolve));
      await this.#request(connection, { op: 'stop' }).catch(() => undefined);
      await gone;
    }
    connection.socket.destroy();
  }

  async #ask(connection: Connection, request: RequestBody, key: string): Promise<ProcessState> {
    return (await this.#request(connection, request))[key] ?? { state: 'unknown' };
  }

  #request(connection: Connection, request: RequestBody): Promise<Record<string, ProcessState>> {
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, ProcessState>>();
    if (connection.socket.destroyed) reject(new Error(hostGone));
    this.#lastId += 1;
    connection.pending.set(this.#lastId, { resolve, reject });
    writeJsonLine(connection.socket, { id: this.#lastId, ...request });
    return promise;
  }

  #connect(): Promise<Connection> {
    if (this.#closed) return Promise.reject(new Error('the connection to the process host was closed'));
    this.#connection ??= this.#open().catch((error: unknown) => {
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }

  /** Another host may have the machine and be on its way up, or down. */
  async #launch(socketPath: string): Promise<Socket> {
    for (let attempt = 0; attempt < connectAttempts; attempt += 1) {
      await launchHost(this.#options);
      const socket = await tryConnect(socketPath);
      if (socket) return socket;
      await delay(connectPauseMs);
    }
    throw new Error(`the process host does not answer on ${socketPath}`);
  }

  async #open(): Promise<Connection> {
    const { socketPath } = toRuntimePaths(this.#options);
    return this.#use((await tryConnect(socketPath)) ?? (await this.#launch(socketPath)));
  }

  async #findHost(): Promise<Connection | undefined> {
    const socket = await tryConnect(toRuntimePaths(this.#options).socketPath);
    return socket && this.#use(socket);
  }

  #use(socket: Socket): Connection {
    const connection: Connection = { socket, pending: new Map(), watched: new Map() };
    readJsonLines(socket, (message) => receive(connection, message as HostMessage));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#connection = undefined;
      for (const { reject } of connection.pending.values()) reject(new Error(hostGone));
      for (const { onLost } of connection.watched.values()) onLost();
    });
    return connection;
  }
}

function receive(connection: Connection, message: HostMessage): void {
  if ('event' in message) {
    const watched = connection.watched.get(message.key);
    if (message.event === 'output') watched?.onOutput(message.text);
    else watched?.onExit(message.exit);
    return;
  }
  const pending = connection.pending.get(message.id);
  connection.pending.delete(message.id);
  if ('error' in message) pending?.reject(new Error(message.error));
  else pending?.resolve(message.states);
}

/** Undefined when nobody listens there. */
function tryConnect(path: string): Promise<Socket | undefined> {
  const socket = connect(path);
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}
