// request-log.ts: what the server was asked, kept for assertions and measurements.
import type { IncomingHttpHeaders } from 'node:http';

export type RecordedRequest = {
  /** Place among the requests for a response, from 1; undefined for all others. */
  readonly number: number | undefined;
  /** The script named in the path; undefined at the root. */
  readonly scriptId: string | undefined;
  readonly method: string;
  readonly path: string;
  /** Keys are masked: at most their last four characters are kept. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON; the text itself when it is none; undefined when empty. */
  readonly body: unknown;
  /** `performance.now()` when the body was complete. */
  readonly receivedAt: number;
  /** Number of the reply that was chosen. */
  reply?: number;
  status?: number;
  /** `performance.now()` just after the first and the last byte were handed to the socket. */
  firstByteAt?: number;
  lastByteAt?: number;
  /** How the answer ended; `left` = the client went away first. Absent while it is under way. */
  outcome?: 'completed' | 'failed' | 'cut' | 'left';
};

export type RequestPredicate = (request: RecordedRequest) => boolean;

export type RequestLog = {
  readonly requests: RecordedRequest[];
  add(request: Omit<RecordedRequest, 'number'> & { isForResponse: boolean }): RecordedRequest;
  waitFor(wanted: RequestPredicate | number): Promise<RecordedRequest>;
  /** Rejects everyone who still waits. */
  close(): void;
};

type Waiter = {
  isWanted: RequestPredicate;
  resolve(request: RecordedRequest): void;
  reject(error: unknown): void;
};

// A predicate that throws fails its own waiter, never the request.
function settle(waiter: Waiter, request: RecordedRequest): boolean {
  try {
    if (!waiter.isWanted(request)) return false;
    waiter.resolve(request);
  } catch (error) {
    waiter.reject(error);
  }
  return true;
}

/** Keeps the newest `limit` requests and drops older ones. */
export function createRequestLog(options: { limit: number }): RequestLog {
  const requests: RecordedRequest[] = [];
  const waiters = new Set<Waiter>();
  let count = 0;
  let isClosed = false;
  return {
    requests,
    add({ isForResponse, ...facts }) {
      if (isForResponse) count += 1;
      const request: RecordedRequest = { number: isForResponse ? count : undefined, ...facts };
      requests.push(request);
      if (requests.length > options.limit) requests.shift();
      for (const waiter of waiters) if (settle(waiter, request)) waiters.delete(waiter);
      return request;
    },
    async waitFor(wanted) {
      const isWanted: RequestPredicate =
        typeof wanted === 'number' ? ({ number }) => number === wanted : wanted;
      const found = requests.find(isWanted);
      if (found) return found;
      if (typeof wanted === 'number' && wanted <= count) {
        const message = `Request ${wanted} is no longer kept; raise maxRequests above ${options.limit} or wait for it earlier.`;
        throw new Error(message);
      }
      if (isClosed) throw toClosedError(count);
      return new Promise((resolve, reject) => waiters.add({ isWanted, resolve, reject }));
    },
    close() {
      isClosed = true;
      for (const waiter of waiters) waiter.reject(toClosedError(count));
      waiters.clear();
    },
  };
}

function toClosedError(count: number): Error {
  return new Error(`The model server closed after ${count} requests, before the one that was waited for.`);
}

const keyHeaders = new Set(['authorization', 'proxy-authorization', 'x-api-key', 'api-key', 'cookie']);

/** One string a header, keys masked. */
export function toRecordedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const recorded: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const text = Array.isArray(value) ? value.join(', ') : (value ?? '');
    recorded[name] = keyHeaders.has(name) ? maskKey(text) : text;
  }
  return recorded;
}

// A short key would be given away by its last four characters.
const shortestShownKey = 12;

/** Keeps the scheme (`Bearer`) and the last four characters of the key. */
export function maskKey(value: string): string {
  const [, scheme = '', key = ''] = /^(Bearer |Basic )?(.*)$/is.exec(value) ?? [];
  return `${scheme}****${key.length >= shortestShownKey ? key.slice(-4) : ''}`;
}
