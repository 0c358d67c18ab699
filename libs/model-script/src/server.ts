// server.ts: a model server on loopback that plays scripts over the OpenAI Responses API.
// Owns: its options, listening, closing. Does not own: paths and keys (request-handler.ts), which reply plays (selection.ts).
// V1  close() ends held, delayed and idle answers by closing their connections; then
//     the records are final and nothing keeps the process alive.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { answerWithoutModel } from './default-script.ts';
import { createGates, type Gate } from './gates.ts';
import { createRequestHandler } from './request-handler.ts';
import { createRequestLog, type RecordedRequest, type RequestPredicate } from './request-log.ts';
import type { ReplyFunction, ReplySource } from './selection.ts';

export type ModelServerOptions = {
  /** Played at `url`. */
  script?: ReplySource | undefined;
  /** Played at `/s/<id>/v1`, by id. */
  scripts?: Readonly<Record<string, ReplySource>> | undefined;
  /** Answers at `url` when there is no `script`; default: a text that says that no model is connected. */
  defaultReply?: ReplyFunction | undefined;
  /** Default 127.0.0.1. */
  host?: string | undefined;
  /** Default 0: a free port. */
  port?: number | undefined;
  /** Requests with any other bearer key are answered with 401. */
  requireKey?: string | undefined;
  /** The models that exist; default: every name is answered. */
  models?: readonly string[] | undefined;
  /** How many requests are kept; default 1000. */
  maxRequests?: number | undefined;
  /** Called for each request as soon as it is recorded. Must not throw. */
  onRequest?: ((request: RecordedRequest) => void) | undefined;
};

export type ModelServer = {
  /** Base URL that ends in `/v1`, for `OPENAI_BASE_URL`. */
  readonly url: string;
  readonly port: number;
  /** The newest requests, oldest first; entries gain their response times as they are answered. */
  readonly requests: readonly RecordedRequest[];
  /** The nth request for a response (from 1), or the first kept or later request that fits. Rejects when the server closes. */
  waitForRequest(wanted: RequestPredicate | number): Promise<RecordedRequest>;
  /** Registers or replaces a script and returns its base URL (ends in `/v1`). */
  addScript(id: string, source: ReplySource): string;
  /** The gate of this name, closed until opened. */
  gate(name: string): Gate;
  /** Idempotent. */
  close(): Promise<void>;
};

const defaultMaxRequests = 1000;
// Longer than the pause a slow tool makes, so that a client's kept connection is not closed under its next request.
const keepAliveMs = 600_000;

/** Listens when the promise resolves; rejects when the port is taken. */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const { host = '127.0.0.1', port = 0 } = options;
  const gates = createGates();
  const log = createRequestLog({ limit: options.maxRequests ?? defaultMaxRequests });
  const scripts = new Map(Object.entries(options.scripts ?? {}));
  const handle = createRequestHandler({
    rootSource: options.script ?? options.defaultReply ?? answerWithoutModel,
    scripts,
    gates,
    log,
    models: options.models,
    requireKey: options.requireKey,
    onRequest: options.onRequest,
  });
  const active = new Set<Promise<unknown>>();
  const server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
    const answering = handle(request, response)
      .catch(() => response.destroy())
      .finally(() => active.delete(answering));
    active.add(answering);
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  const boundPort = typeof address === 'object' && address ? address.port : port;
  const origin = `http://${toReachableHost(host)}:${boundPort}`;
  const close = async () => {
    const ended = once(server, 'close');
    server.close();
    log.close();
    server.closeAllConnections();
    await ended;
    await Promise.all(active);
  };
  let closed: Promise<void> | undefined;
  return {
    url: `${origin}/v1`,
    port: boundPort,
    requests: log.requests,
    waitForRequest: (wanted) => log.waitFor(wanted),
    addScript(id, source) {
      scripts.set(id, source);
      return `${origin}/s/${encodeURIComponent(id)}/v1`;
    },
    gate: (name) => gates.gate(name),
    close: () => (closed ??= close()),
  };
}

function toReachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
