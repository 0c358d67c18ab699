// held-server.ts: one configured MCP server, kept connected for as long as the gateway lives.
// H1  A server that ends is connected again: at once when it had been well for 10 s, else after 0.2 s, 0.4 s … 30 s.
// H2  What tools it has is remembered while it is away: a restart does not change the catalog.
// H3  A call waits a moment for a server that is just being connected; a server that keeps failing is reported at once.
// H4  Only a request that never reached the server is sent a second time.
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@holdfast/telemetry';
import type { Tool } from '@modelcontextprotocol/client';
import { openConnection, type Connection } from './connection.ts';
import type { ProtocolChoice, ServerConfig } from './server-config.ts';
import type { ToolOutcome, ToolRequest } from './tool-caller.ts';
import { toTrouble } from './trouble.ts';

export type HeldServerOptions = {
  server: ServerConfig;
  env: Readonly<Record<string, string | undefined>>;
  logger: Logger;
  /** Called when `tools()` may have changed. */
  onToolsChanged: () => void;
};

const firstPauseMs = 200;
const longestPauseMs = 30_000;
const wellAfterMs = 10_000;
/** How long a call waits for a server that is on its way back (H3). */
const patienceMs = 5_000;
const patientFailures = 3;
const stoppedReason = 'the gateway is being stopped';

export class HeldServer {
  readonly config: ServerConfig;
  readonly #options: HeldServerOptions;
  readonly #stop = new AbortController();
  readonly #stopped = Promise.withResolvers<string>();
  readonly #settled = Promise.withResolvers<void>();
  readonly #life: Promise<void>;
  #ready = Promise.withResolvers<Connection>();
  #connection: Connection | undefined;
  #tools: readonly Tool[] = [];
  #reason = 'it is being connected';
  #failures = 0;
  #protocol: ProtocolChoice;

  constructor(options: HeldServerOptions) {
    this.config = options.server;
    this.#options = options;
    this.#protocol = options.server.protocol;
    this.#life = this.#live();
  }

  /** Resolves when the first attempt to connect has succeeded or failed. */
  settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** The tools it offered last, by their raw names, without those the configuration leaves out (H2). */
  tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Why it cannot be used now, as a clause such as "it answered HTTP 500"; undefined while it can. */
  trouble(): string | undefined {
    return this.#connection === undefined ? this.#reason : undefined;
  }

  /** @throws `request.signal.reason` after an abort, nothing else */
  async call(tool: Tool, request: ToolRequest): Promise<ToolOutcome> {
    const connection = await this.#reach(request.signal);
    if (connection === undefined) return { kind: 'away', reason: this.#reason };
    const outcome = await connection.call(tool, request);
    if (outcome.kind === 'lost') void connection.check();
    if (outcome.kind !== 'away') return outcome;
    if (await connection.check()) return { kind: 'refused', reason: outcome.reason };
    this.#release(connection);
    const next = await this.#reach(request.signal);
    return next === undefined ? outcome : next.call(tool, request);
  }

  /** Ends the connection and the process of the server. Idempotent. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#stopped.resolve(stoppedReason);
    await this.#life;
  }

  async #live(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#hold(signal);
      if (signal.aborted) break;
      const { logger } = this.#options;
      logger.warn(
        { server: this.config.name, reason: this.#reason, failures: this.#failures },
        'MCP server is away',
      );
      const pauseMs =
        this.#failures === 0 ? 0 : Math.min(firstPauseMs * 2 ** (this.#failures - 1), longestPauseMs);
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
    this.#reason = stoppedReason;
    this.#settled.resolve();
  }

  /** One connection from its start to its end. */
  async #hold(signal: AbortSignal): Promise<void> {
    let connection: Connection | undefined;
    let readyAt: number | undefined;
    try {
      connection = await openConnection(this.#toConnectionOptions(signal, () => connection));
      this.#protocol = connection.protocol;
      await this.#list(connection);
      readyAt = performance.now();
      this.#become(connection);
      this.#reason = await Promise.race([connection.lost, this.#stopped.promise]);
    } catch (error) {
      this.#reason = toTrouble(error).reason;
      this.#protocol = this.config.protocol;
    } finally {
      if (connection) this.#release(connection);
      const well = readyAt !== undefined && performance.now() - readyAt >= wellAfterMs;
      this.#failures = well ? 0 : this.#failures + 1;
      this.#settled.resolve();
      await connection?.close();
    }
  }

  #toConnectionOptions(signal: AbortSignal, current: () => Connection | undefined) {
    const { server, env, logger } = this.#options;
    const onToolsChanged = () => {
      const connection = current();
      if (connection) void this.#list(connection).catch(() => connection.check());
    };
    return { server, env, logger, signal, protocol: this.#protocol, onToolsChanged };
  }

  async #list(connection: Connection): Promise<void> {
    const { enabledTools, disabledTools, name } = this.config;
    const tools = await connection.listTools();
    this.#tools = tools.filter(
      (tool) => (enabledTools?.includes(tool.name) ?? true) && !disabledTools.includes(tool.name),
    );
    this.#options.logger.info({ server: name, tools: this.#tools.length }, 'MCP server listed its tools');
    this.#options.onToolsChanged();
  }

  #become(connection: Connection): void {
    this.#connection = connection;
    this.#ready.resolve(connection);
    this.#settled.resolve();
  }

  #release(connection: Connection): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#ready = Promise.withResolvers();
  }

  async #reach(signal: AbortSignal): Promise<Connection | undefined> {
    signal.throwIfAborted();
    if (this.#connection !== undefined || this.#failures >= patientFailures) return this.#connection;
    const waiting = new AbortController();
    const limit = AbortSignal.any([signal, waiting.signal, this.#stop.signal]);
    const patience = delay(patienceMs, undefined, { signal: limit }).catch(() => undefined);
    const connection = await Promise.race([this.#ready.promise, patience]);
    waiting.abort();
    signal.throwIfAborted();
    return connection;
  }
}
