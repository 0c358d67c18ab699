// client.ts: the tool worker's side of its process host. Connects on first use, starts the host when there is none, and again when it died.
import {
  findConnection,
  hostGone,
  openConnection,
  type HostConnection,
  type RequestBody,
} from './connection.ts';
import {
  interactOver,
  type InteractionOutcome,
  type InteractionRequest,
  type InteractionWait,
} from './interaction.ts';
import type { LaunchOptions } from './launch.ts';
import { readLog } from './process-log.ts';
import { toOutputFolder, toProcessesFolder } from './process-names.ts';
import type {
  HostAnswers,
  HostRequest,
  ProcessExit,
  ProcessSpec,
  ProcessState,
  Reading,
  TerminalAddress,
  TerminalSize,
  TerminalStatus,
} from './protocol.ts';

/** `lost`: the host died while the process ran, or before it could say that it started. */
export type ProcessOutcome = { state: 'exited'; exit: ProcessExit } | { state: 'lost'; startedAt: number };

/** `read`: the process went to the background, and this is what the call has read of it. */
export type CallOutcome = ProcessOutcome | { state: 'read'; reading: Reading };

export type ProcessWatch = {
  onOutput: (text: string) => void;
  /** Kills the process with everything it started; the outcome then says so. */
  signal: AbortSignal;
  background?: BackgroundRequest;
};

/** When a process still runs after this time, it goes to the background. */
export type BackgroundRequest = { afterMs: number; owner: string; command: string; notify: boolean };

/** From SIGTERM to SIGKILL when a person interrupts. */
const interruptGraceMs = 100;
const followAttempts = 3;

export class ProcessHostClient {
  readonly #options: LaunchOptions;
  #connection: Promise<HostConnection> | undefined;
  #closed = false;
  #onEnded: () => void = () => undefined;

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
  async run(process: ProcessSpec, watch: ProcessWatch): Promise<CallOutcome> {
    const outcome = await this.#follow({ op: 'start', process }, process.key, watch);
    if (outcome.state === 'unknown') throw new Error(hostGone);
    return outcome;
  }

  /** Waits for the end of a process that was started before; starts nothing. @throws Error when there is no host to be had */
  attach(key: string, watch: ProcessWatch): Promise<CallOutcome | { state: 'unknown' }> {
    return this.#follow({ op: 'attach', key }, key, watch);
  }

  /**
   * Writes the input, waits until the process ends or the time is over, and reads what it has printed since the last reading.
   * Idempotent by call. An abort ends the wait without a reading. @throws Error when there is no host to be had
   */
  async interact(request: InteractionRequest, wait: InteractionWait): Promise<InteractionOutcome> {
    for (let attempt = 1; ; attempt += 1) {
      const connection = await this.#connect();
      try {
        return await interactOver(connection, request, wait);
      } catch (error) {
        if (!connection.isClosed || attempt === followAttempts) throw error;
      }
    }
  }

  status(key: string): Promise<ProcessState> {
    return this.#ask({ op: 'status', key });
  }

  /** Resolves when nothing of the process is left. */
  async kill(key: string, graceMs = interruptGraceMs): Promise<void> {
    await this.#ask({ op: 'kill', key, graceMs });
  }

  list(): Promise<Record<string, ProcessState>> {
    return this.#ask({ op: 'list' });
  }

  async forget(key: string): Promise<void> {
    await this.#ask({ op: 'forget', key });
  }

  /** Nobody asks for this call any more. `unread`: what it read of a terminal was seen by nobody. */
  async settle(call: string, options: { unread: boolean }): Promise<void> {
    await this.#ask({ op: 'settle', call, ...options });
  }

  terminals(): Promise<TerminalStatus[]> {
    return this.#ask({ op: 'terminals' });
  }

  /** Calls the listener when a terminal may have ended whose end is to be told: when one did, and with each new connection. */
  followEnds(listener: () => void): void {
    this.#onEnded = listener;
  }

  /** False when there is no such terminal with a tty. */
  resize(address: TerminalAddress, size: TerminalSize): Promise<boolean> {
    const { owner, number } = address;
    return this.#ask({ op: 'resize', owner, number, size });
  }

  /** The end of this terminal was told and is not to be told again. */
  async setNotified({ owner, number }: TerminalAddress): Promise<void> {
    await this.#ask({ op: 'notified', owner, number });
  }

  /** Where the output of this key is kept. */
  folderOf(key: string): string {
    return toOutputFolder(this.#options.stateDir, key);
  }

  /** What is on disk, without a host: false when the key was certainly never started since the system did. */
  mayHaveStarted(key: string): boolean {
    return readLog(toProcessesFolder(this.#options.stateDir)).has(key);
  }

  /** What is on disk, without a host. */
  mayHaveTerminals(): boolean {
    const records = readLog(toProcessesFolder(this.#options.stateDir)).values();
    return [...records].some((record) => record.terminal !== undefined);
  }

  /** Leaves the host alone, or ends it with everything that runs in it, also when this client has never talked to it. Idempotent. */
  async close(options: { stopHost: boolean }): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const connection =
      (await this.#connection?.catch(() => undefined)) ?? (await findConnection(this.#options));
    if (!connection) return;
    if (options.stopHost) {
      const gone = new Promise<void>((resolve) => connection.onClose(resolve));
      await connection.ask({ op: 'stop' }).catch(() => undefined);
      await gone;
    }
    connection.close();
  }

  async #follow(
    request: RequestBody<'start'> | RequestBody<'attach'>,
    key: string,
    watch: ProcessWatch,
  ): Promise<CallOutcome | { state: 'unknown' }> {
    const kill = () => void this.kill(key).catch(() => undefined);
    watch.signal.addEventListener('abort', kill, { once: true });
    try {
      for (let attempt = 1; ; attempt += 1) {
        const connection = await this.#connect();
        try {
          return await this.#followOn(connection, { request, key, watch });
        } catch (error) {
          if (!connection.isClosed || attempt === followAttempts) throw error;
        }
      }
    } finally {
      watch.signal.removeEventListener('abort', kill);
    }
  }

  async #followOn(
    connection: HostConnection,
    follow: { request: RequestBody<'start'> | RequestBody<'attach'>; key: string; watch: ProcessWatch },
  ): Promise<CallOutcome | { state: 'unknown' }> {
    const { request, key, watch } = follow;
    const { background } = watch;
    const ended = Promise.withResolvers<ProcessExit | 'late'>();
    ended.promise.catch(() => undefined);
    const endWatch = connection.watch(key, {
      onOutput: watch.onOutput,
      onExit: (exit) => ended.resolve(exit),
      onLost: () => ended.reject(new Error(hostGone)),
    });
    const timer =
      background &&
      setTimeout(() => {
        // What is being killed is waited for.
        if (!watch.signal.aborted) ended.resolve('late');
      }, background.afterMs);
    try {
      const state = await connection.ask(request);
      const isThere = state.state !== 'unknown' && state.inBackground === true;
      if (background && isThere) return await sendToBackground(connection, key, background);
      if (state.state !== 'running') return state;
      if (watch.signal.aborted) await this.kill(key);
      const exit = await ended.promise;
      if (exit !== 'late') return { state: 'exited', exit };
      return background ? await sendToBackground(connection, key, background) : { state: 'unknown' };
    } finally {
      clearTimeout(timer);
      endWatch();
    }
  }

  async #ask<O extends HostRequest['op']>(request: RequestBody<O>): Promise<HostAnswers[O]> {
    const connection = await this.#connect();
    return connection.ask(request);
  }

  #connect(): Promise<HostConnection> {
    if (this.#closed) return Promise.reject(new Error('the connection to the process host was closed'));
    this.#connection ??= this.#open();
    return this.#connection;
  }

  async #open(): Promise<HostConnection> {
    try {
      const connection = await openConnection(this.#options);
      connection.onClose(() => {
        this.#connection = undefined;
      });
      connection.onEnded = () => this.#onEnded();
      this.#onEnded();
      return connection;
    } catch (error) {
      this.#connection = undefined;
      throw error;
    }
  }
}

/** A process that has ended meanwhile stays where it is. */
async function sendToBackground(
  connection: HostConnection,
  key: string,
  { owner, command, notify }: BackgroundRequest,
): Promise<CallOutcome | { state: 'unknown' }> {
  const answer = await connection.ask({ op: 'background', key, owner, command, notify });
  if ('key' in answer) return { state: 'read', reading: answer };
  if (answer.state.state === 'running') throw new Error(`process ${key} could not go to the background`);
  return answer.state;
}
