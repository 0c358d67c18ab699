// failure-classification.ts: what an endpoint's failure is called here. By status and code, never by message text.
import { Failure, type FailureCode } from '@holdfast/failures';
import { APIConnectionError, APIError } from 'openai';
import type { ResolvedModel } from '../domain/ports.ts';
import { toRetryAfterMs } from './retry-after.ts';

/** How a stream ended itself. */
type EndedStream =
  | {
      ended: 'failed';
      error: { code?: string | null | undefined; message?: string | null | undefined } | null;
    }
  | { ended: 'incomplete'; reason: string | undefined };

const byCode: Readonly<Record<string, FailureCode>> = {
  context_length_exceeded: 'model.context-overflow',
  insufficient_quota: 'model.quota-exceeded',
  billing_hard_limit_reached: 'model.quota-exceeded',
  usage_limit_reached: 'model.quota-exceeded',
  usage_not_included: 'model.quota-exceeded',
  rate_limit_exceeded: 'model.rate-limited',
  server_is_overloaded: 'model.overloaded',
  slow_down: 'model.overloaded',
  server_error: 'model.unavailable',
  model_not_found: 'model.not-found',
  invalid_api_key: 'model.unauthorized',
  invalid_prompt: 'model.invalid-request',
};

const byStatus: Readonly<Record<number, FailureCode>> = {
  401: 'model.unauthorized',
  402: 'model.quota-exceeded',
  403: 'model.unauthorized',
  408: 'model.unavailable',
  409: 'model.unavailable',
  425: 'model.unavailable',
  429: 'model.rate-limited',
};

/** Servers beside OpenAI's name a missing model by type only. */
const notFoundTypes = new Set(['not_found_error', 'NotFoundError']);

/** Codes of the HTTP client for a connection that was there and broke, and for its own patience. */
const byConnection: Readonly<Record<string, FailureCode>> = {
  ECONNRESET: 'model.stream-cut',
  EPIPE: 'model.stream-cut',
  UND_ERR_SOCKET: 'model.stream-cut',
  UND_ERR_HEADERS_TIMEOUT: 'model.stream-idle',
  UND_ERR_BODY_TIMEOUT: 'model.stream-idle',
};

/** No connection came about, for a reason that may pass without anybody's doing. */
const networkCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'ENETDOWN',
  'ENETUNREACH',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const detailLimit = 300;
/** Anything shorter is a placeholder of a local server, and maybe a word of the message. */
const shortestKey = 8;

type KnownModel = Pick<ResolvedModel, 'baseUrl' | 'apiKey'>;

/** @param error an `EndedStream`, or whatever the client library or the body's reader threw */
export function toModelFailure(error: unknown, model?: KnownModel): Failure {
  if (error instanceof Failure) return error;
  if (isEndedStream(error)) return toStreamFailure(error, model);
  if (error instanceof APIConnectionError) return toConnectionFailure(error, model?.baseUrl);
  if (error instanceof APIError) {
    return typeof error.status === 'number'
      ? toHttpFailure(error, model)
      : toStreamFailure({ ended: 'failed', error }, model);
  }
  return toBrokenStream(error);
}

function isEndedStream(error: unknown): error is EndedStream {
  return typeof error === 'object' && error !== null && 'ended' in error;
}

function toStreamFailure(end: EndedStream, model: KnownModel | undefined): Failure {
  if (end.ended === 'incomplete')
    return new Failure('model.failed', { detail: `incomplete: ${end.reason ?? 'no reason given'}` });
  const { code, message } = end.error ?? {};
  const failureCode = toFailureCode(code) ?? 'model.failed';
  const retryAfterMs = failureCode === 'model.rate-limited' ? toRetryAfterMs({ message }) : undefined;
  const text = [code, message].filter(Boolean).join(': ');
  return create(failureCode, { text: withoutKey(text, model), retryAfterMs });
}

function toHttpFailure(error: APIError, model: KnownModel | undefined): Failure {
  const code = toHttpCode(error);
  const endpoint = toShownUrl(model?.baseUrl);
  if (code === 'model.unauthorized')
    return new Failure(code, { detail: `HTTP ${error.status} from ${endpoint}` });
  const retryAfterMs =
    code === 'model.rate-limited' || error.status === 503 ? toRetryAfterMs(error) : undefined;
  const said = toProviderText(error);
  const text =
    error.status === 404 && said === ''
      ? `HTTP 404 from ${endpoint}/responses; is the base URL right?`
      : said;
  return create(code, { text: withoutKey(text || `HTTP ${error.status}`, model), retryAfterMs });
}

function toHttpCode({ status = 500, code, type, param }: APIError): FailureCode {
  const named = toFailureCode(code) ?? toFailureCode(type);
  if (status >= 500) return named === 'model.overloaded' ? named : 'model.unavailable';
  if (status === 401 || status === 403) return 'model.unauthorized';
  if (status === 404)
    return (
      named ??
      (param === 'model' || notFoundTypes.has(type ?? '') ? 'model.not-found' : 'model.invalid-request')
    );
  return named ?? byStatus[status] ?? 'model.invalid-request';
}

function toFailureCode(code: unknown): FailureCode | undefined {
  return typeof code === 'string' && Object.hasOwn(byCode, code) ? byCode[code] : undefined;
}

function toProviderText(error: APIError): string {
  const body: unknown = error.error;
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined;
  return typeof message === 'string' ? message : '';
}

function toConnectionFailure(error: APIConnectionError, baseUrl: string | undefined): Failure {
  const code = toSystemCode(error);
  const known = code === undefined ? undefined : byConnection[code];
  if (known) return new Failure(known, { detail: code ?? known, cause: error });
  const isAway = code !== undefined && networkCodes.has(code);
  return new Failure(isAway ? 'model.unreachable' : 'model.connection-failed', {
    detail: [code, toShownUrl(baseUrl)].filter(Boolean).join(' '),
    cause: error,
  });
}

function toBrokenStream(error: unknown): Failure {
  const code = toSystemCode(error);
  return new Failure((code === undefined ? undefined : byConnection[code]) ?? 'model.stream-cut', {
    cause: error,
    ...(code === undefined ? {} : { detail: code }),
  });
}

/** The system's code is at the end of a chain of causes. */
function toSystemCode(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    const errors: unknown[] = current instanceof AggregateError ? current.errors : [];
    for (const candidate of [current, ...errors]) {
      if (candidate instanceof Error && 'code' in candidate && typeof candidate.code === 'string')
        return candidate.code;
    }
  }
  return undefined;
}

/** Without user name, password and query, where keys may be. */
function toShownUrl(baseUrl: string | undefined): string {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return 'the endpoint';
  const { origin, pathname } = new URL(baseUrl);
  return `${origin}${pathname}`.replace(/\/$/, '');
}

/** Endpoints quote what they were sent. */
function withoutKey(text: string, model: KnownModel | undefined): string {
  return model && model.apiKey.length >= shortestKey ? text.replaceAll(model.apiKey, '***') : text;
}

function create(
  code: FailureCode,
  { text, retryAfterMs }: { text: string; retryAfterMs: number | undefined },
): Failure {
  const shown = text.length > detailLimit ? `${text.slice(0, detailLimit)}…` : text;
  const pause = retryAfterMs === undefined ? '' : `asked for a pause of ${Math.ceil(retryAfterMs / 1000)} s`;
  const detail = [shown, pause].filter(Boolean).join('; ');
  return new Failure(code, {
    ...(detail === '' ? {} : { detail }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
