// request-handler.ts: from one HTTP request to one answer: record, check the key, find script and resource.
// H1  `/v1/...` plays the script given at the start, `/s/<id>/v1/...` the one registered under that id.
// H2  A request is recorded when its body is complete, before anything is answered.
// H3  When the client leaves, the answer stops and its record says so.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { toErrorBody, type ApiError } from './api-error.ts';
import type { Gates } from './gates.ts';
import { maskKey, toRecordedHeaders, type RecordedRequest, type RequestLog } from './request-log.ts';
import { createResponseRoute, type ResponseRoute } from './response-route.ts';
import type { ReplySource } from './selection.ts';

export type RequestHandlerOptions = {
  rootSource: ReplySource;
  /** Read at each request, so that scripts may be added while the server runs. */
  scripts: ReadonlyMap<string, ReplySource>;
  gates: Gates;
  log: RequestLog;
  models: readonly string[] | undefined;
  requireKey: string | undefined;
  onRequest: ((request: RecordedRequest) => void) | undefined;
};

type Exchange = {
  record: RecordedRequest;
  response: ServerResponse;
  signal: AbortSignal;
  authorization: string;
  bytes: number;
};

/** The handler rejects only for what is no fault of a script or client; the connection should be destroyed then. */
export function createRequestHandler(
  options: RequestHandlerOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const respond = createResponseRoute({ gates: options.gates, models: options.models });
  return async (request, response) => {
    const left = new AbortController();
    response.on('close', () => left.abort());
    response.setHeader('x-request-id', `req_${randomUUID().replaceAll('-', '')}`);
    const body = await buffer(request);
    const record = options.log.add(toRecordFacts(request, body));
    options.onRequest?.(record);
    const authorization = request.headers.authorization ?? '';
    const exchange = { record, response, signal: left.signal, authorization, bytes: body.byteLength };
    try {
      const error = await answer(options, respond, exchange);
      if (error) sendError(exchange, error);
    } catch (error) {
      if (!left.signal.aborted) throw error;
      record.outcome = 'left';
    }
  };
}

async function answer(
  options: RequestHandlerOptions,
  respond: ResponseRoute,
  exchange: Exchange,
): Promise<ApiError | undefined> {
  const { record, authorization } = exchange;
  if (options.requireKey !== undefined && authorization !== `Bearer ${options.requireKey}`) {
    const sent = authorization === '' ? 'none was sent' : `${maskKey(authorization)} was sent`;
    return {
      status: 401,
      code: 'invalid_api_key',
      message: `The API key is not the one this server wants; ${sent}.`,
    };
  }
  const { scriptId, resource } = toTarget(record.path);
  const source = scriptId === undefined ? options.rootSource : options.scripts.get(scriptId);
  if (!source) {
    const known = [...options.scripts.keys()].join(', ') || 'none';
    return {
      status: 404,
      code: 'script_not_found',
      message: `There is no script "${scriptId}"; known: ${known}.`,
    };
  }
  if (resource === 'responses' && record.method === 'POST') {
    return respond({ ...exchange, source, scriptId: scriptId ?? 'default' });
  }
  if (resource === 'models' && record.method === 'GET') {
    const named = typeof source === 'function' ? undefined : source.model;
    const models = options.models ?? [named ?? 'scripted'];
    const data = models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'holdfast' }));
    sendJson(exchange, 200, JSON.stringify({ object: 'list', data }));
    return undefined;
  }
  if (record.headers['upgrade'] !== undefined) {
    // 426 is the status after which Codex falls back to HTTP at once.
    return { status: 426, code: 'websocket_unsupported', message: 'This server has no WebSocket; use HTTP.' };
  }
  const asked = `${record.method} ${record.path}`;
  return {
    status: 404,
    code: 'unknown_path',
    message: `There is no ${asked}; use POST responses or GET models.`,
  };
}

function toTarget(path: string): { scriptId: string | undefined; resource: string | undefined } {
  const [, encoded, resource] = /^(?:\/s\/([^/?]+))?\/v1\/([^?]+)/.exec(path) ?? [];
  if (encoded === undefined) return { scriptId: undefined, resource };
  try {
    return { scriptId: decodeURIComponent(encoded), resource };
  } catch {
    return { scriptId: encoded, resource };
  }
}

function toRecordFacts(request: IncomingMessage, body: Buffer): Parameters<RequestLog['add']>[0] {
  const { method = 'GET', url: path = '/' } = request;
  const { scriptId, resource } = toTarget(path);
  return {
    isForResponse: method === 'POST' && resource === 'responses',
    scriptId,
    method,
    path,
    headers: toRecordedHeaders(request.headers),
    receivedAt: performance.now(),
    body: toParsedBody(body),
  };
}

function toParsedBody(body: Buffer): unknown {
  if (body.byteLength === 0) return undefined;
  const text = body.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function sendError(exchange: Pick<Exchange, 'record' | 'response'>, error: ApiError): void {
  if (error.retryAfterSeconds !== undefined)
    exchange.response.setHeader('retry-after', String(error.retryAfterSeconds));
  sendJson(exchange, error.status, toErrorBody(error));
}

function sendJson(
  { record, response }: Pick<Exchange, 'record' | 'response'>,
  status: number,
  json: string,
): void {
  record.status = status;
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(json),
  });
  response.end(json);
  record.firstByteAt = performance.now();
  record.lastByteAt = record.firstByteAt;
  record.outcome = status < 400 ? 'completed' : 'failed';
}
