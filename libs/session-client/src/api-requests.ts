// api-requests.ts: one request to the session-api, repeated while the connection fails, so that a restart of it is not seen.
// R1  Every request carries the ids that make it idempotent, so a repeat whose first reply was lost changes nothing.
// R2  A failure that the session-api names is thrown with its code; only connection failures and gateway answers are repeated.
import { Failure, isFailureCode } from '@holdfast/failures';

export type ApiOptions = {
  /** For example `http://127.0.0.1:7401`. */
  url: string;
  token: string;
  /** How long a request is repeated while the session-api cannot be reached, in milliseconds; default 30 s. */
  patienceMs?: number;
  /** Sends one request; default `fetch`, which costs a program that ends soon more than the request itself. */
  transport?: Transport;
};

/** Rejects when no reply came; judges no status. The reply's body ends with an error when the connection breaks or `signal` aborts. */
export type Transport = (
  url: string,
  request: { method: string; headers: Record<string, string>; body?: string; signal?: AbortSignal },
) => Promise<ApiReply>;

/** What is used of a reply. */
export type ApiReply = Pick<Response, 'ok' | 'status' | 'json' | 'arrayBuffer'> & {
  headers: Pick<Headers, 'get'>;
  body: AsyncIterable<Uint8Array> | null;
};

export type ApiRequest = {
  method: 'GET' | 'POST';
  /** With the leading slash. */
  path: string;
  body?: unknown;
  signal?: AbortSignal;
  headers?: Record<string, string>;
};

/** Judges nothing: takes what it needs from a reply with a good status. Called again when the connection breaks while it reads. */
export type ReadReply<T> = (response: ApiReply) => Promise<T>;

const defaultPatienceMs = 30_000;
const firstPauseMs = 50;
const longestPauseMs = 1_000;
const repeatable: ReadonlySet<number> = new Set([502, 503, 504]);

type Outcome<T> = { kind: 'answered'; value: T } | { kind: 'unanswered'; failure: Failure };

/** @throws Failure with the code the session-api gave, or store.unavailable when the patience is used up */
export async function sendRequest<T>(
  options: ApiOptions,
  request: ApiRequest,
  read: ReadReply<T>,
): Promise<T> {
  const deadline = Date.now() + (options.patienceMs ?? defaultPatienceMs);
  let pause = firstPauseMs;
  for (;;) {
    const outcome = await sendOnce(options, request, read);
    if (outcome.kind === 'answered') return outcome.value;
    if (Date.now() + pause > deadline) throw outcome.failure;
    await pauseFor(pause, request.signal);
    pause = Math.min(pause * 2, longestPauseMs);
  }
}

/** Resolves after `ms`, or at once when the signal aborts. */
export function pauseFor(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stop = () => resolve();
  signal?.addEventListener('abort', stop, { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  });
}

/** One attempt without judging the status. @throws what the transport throws */
export function openRequest(options: ApiOptions, request: ApiRequest): Promise<ApiReply> {
  const { transport = fetch } = options;
  const headers: Record<string, string> = { authorization: `Bearer ${options.token}`, ...request.headers };
  if (request.body !== undefined) headers['content-type'] = 'application/json';
  return transport(options.url.replace(/\/$/, '') + request.path, {
    method: request.method,
    headers,
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    ...(request.signal ? { signal: request.signal } : {}),
  });
}

/** The failure that a refused request stands for. */
export async function toFailure(response: ApiReply): Promise<Failure> {
  const body = (await response.json().catch(() => undefined)) as
    | { error?: { code?: unknown; message?: unknown; detail?: unknown } }
    | undefined;
  const { code, message, detail } = body?.error ?? {};
  if (isFailureCode(code)) return new Failure(code, typeof detail === 'string' ? { detail } : {});
  const said = typeof message === 'string' ? message : `the session-api answered HTTP ${response.status}`;
  return new Failure('internal.unexpected', { detail: said });
}

async function sendOnce<T>(
  options: ApiOptions,
  request: ApiRequest,
  read: ReadReply<T>,
): Promise<Outcome<T>> {
  let response: ApiReply;
  try {
    response = await openRequest(options, request);
    if (response.ok) return { kind: 'answered', value: await read(response) };
  } catch (cause) {
    request.signal?.throwIfAborted();
    return { kind: 'unanswered', failure: toUnreachable(options, cause) };
  }
  const failure = await toFailure(response);
  if (repeatable.has(response.status) && failure.code !== 'machine.offline')
    return { kind: 'unanswered', failure };
  throw failure;
}

function toUnreachable(options: ApiOptions, cause: unknown): Failure {
  const detail = `the session-api at ${options.url} does not answer; start it with \`holdfast up\``;
  return new Failure('store.unavailable', { detail, cause });
}
