// response-route.ts: POST /responses: choose the reply, let it fail as often as it should, play it.
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { toApiError, type ApiError } from './api-error.ts';
import type { Gates } from './gates.ts';
import { toModelRequest, type ModelRequest } from './model-request.ts';
import { playReply, type StreamFailure } from './playback.ts';
import type { RecordedRequest } from './request-log.ts';
import { createResponsePlan } from './response-events.ts';
import type { ScriptedFailure } from './script.ts';
import { selectReply, type ReplySource, type Selection } from './selection.ts';

type ResponseExchange = {
  source: ReplySource;
  /** Names the script in messages and keeps its failure counts apart from those of others. */
  scriptId: string;
  record: RecordedRequest;
  bytes: number;
  response: ServerResponse;
  signal: AbortSignal;
};

/** Answers with a stream, or returns the error that should be answered instead. Rejects when the signal aborts. */
export type ResponseRoute = (exchange: ResponseExchange) => Promise<ApiError | undefined>;

/** `models`: the only models that exist; undefined = every name does. */
export function createResponseRoute(options: {
  gates: Gates;
  models: readonly string[] | undefined;
}): ResponseRoute {
  const { gates, models } = options;
  const failedTimes = new Map<string, number>();
  const toFailure = (failure: ScriptedFailure | undefined, key: string): ScriptedFailure | undefined => {
    if (!failure || failure.times === 'always') return failure;
    const failed = failedTimes.get(key) ?? 0;
    if (failed >= (failure.times ?? 1)) return undefined;
    failedTimes.set(key, failed + 1);
    return failure;
  };
  return async (exchange) => {
    const { record, response, signal, scriptId } = exchange;
    const request = readRequest(exchange);
    if ('status' in request) return request;
    if (models && !models.includes(request.model)) {
      const message = `The model "${request.model}" does not exist here; known: ${models.join(', ')}.`;
      return { status: 404, code: 'model_not_found', message };
    }
    const selection = chooseReply(exchange, request);
    if ('status' in selection) return selection;
    const { reply, number } = selection;
    record.reply = number;
    const failure = toFailure(reply.fail, JSON.stringify([scriptId, request.sessionKey, number]));
    if (reply.gate !== undefined) await gates.hold(reply.gate, signal);
    if (reply.delayMs) await sleep(reply.delayMs, undefined, { signal });
    if (failure && 'status' in failure) return toApiError(failure);
    const streamFailure: StreamFailure | undefined = failure;
    const plan = createResponsePlan(request, reply, number);
    await playReply({ response, record, plan, reply, failure: streamFailure, gates, signal });
  };
}

function readRequest({ record, bytes }: ResponseExchange): ModelRequest | ApiError {
  try {
    const request = toModelRequest({ body: record.body, bytes, sessionId: record.headers['session-id'] });
    if (request.stream) return request;
    return {
      status: 400,
      code: 'stream_required',
      message: 'This server only streams; send "stream": true.',
    };
  } catch (error) {
    return { status: 400, code: 'invalid_request', message: toMessage(error) };
  }
}

function chooseReply(
  exchange: ResponseExchange,
  request: ModelRequest,
): Extract<Selection, { kind: 'reply' }> | ApiError {
  try {
    const selection = selectReply(exchange.source, request, exchange.scriptId);
    if (selection.kind === 'reply') return selection;
    return { status: 400, code: 'script_exhausted', message: selection.message };
  } catch (error) {
    return { status: 400, code: 'script_failed', message: toMessage(error) };
  }
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
