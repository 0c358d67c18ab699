// openai.ts: one streamed reply over the Responses API.
// O1  The client library repeats nothing and times nothing out: retries belong to the engine, silence to the idle timer.
// O2  An item counts when it is done, the reply when response.completed has come; a stream that ends before is cut.
// O3  The body is read to its end behind our back, so that the next step reuses the connection.
import { Failure } from '@holdfast/failures';
import { OpenAI } from 'openai';
import type {
  Response,
  ResponseCreateParamsStreaming,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import type { ModelCall, ModelClient, ModelReply, ResolvedModel } from '../domain/ports.ts';
import { toModelFailure } from './failure-classification.ts';
import { toReplyItem, toUsage } from './reply-items.ts';

/** The longest time a Node timer can wait. */
const neverMs = 2_147_483_647;
const keptClients = 64;
/** A server that keeps the stream open after response.completed loses the connection. */
const drainLimitMs = 1_000;

/** @param options.idleMs a stream without any event for this long ends with model.stream-idle */
export function createOpenAiClient(options: { idleMs: number }): ModelClient {
  const toClient = createClients();
  return {
    async stream(call, signal) {
      signal.throwIfAborted();
      const connection = new AbortController();
      const state = { idle: false };
      const stop = () => connection.abort(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      const idle = setTimeout(() => {
        state.idle = true;
        connection.abort();
      }, options.idleMs);
      try {
        const events = await open(toClient(call.model), call, connection);
        return await readReply(events, connection, { call, onEvent: () => idle.refresh() });
      } catch (error) {
        signal.throwIfAborted();
        if (state.idle)
          throw new Failure('model.stream-idle', { detail: `${options.idleMs} ms without an event` });
        throw toModelFailure(error, call.model);
      } finally {
        clearTimeout(idle);
        signal.removeEventListener('abort', stop);
      }
    },
  };
}

async function open(
  client: OpenAI,
  call: ModelCall,
  connection: AbortController,
): Promise<AsyncIterator<ResponseStreamEvent>> {
  const session = call.body.prompt_cache_key;
  const headers = { 'session-id': session, 'x-client-request-id': session };
  // Stored items and tools are in the wire form already; the library's types ask for fields that the API does not need.
  const body = call.body as unknown as ResponseCreateParamsStreaming;
  const stream = await client.responses.create(body, { signal: connection.signal, headers });
  return stream[Symbol.asyncIterator]();
}

type Listener = { call: ModelCall; onEvent: () => void };

/** The events that decide a reply; all others only show that the stream lives. */
type ReplyEvent = Extract<
  ResponseStreamEvent,
  | {
      type:
        | 'response.output_text.delta'
        | 'response.reasoning_summary_text.delta'
        | 'response.output_item.done';
    }
  | { type: 'response.completed' | 'response.failed' | 'response.incomplete' }
>;

async function readReply(
  events: AsyncIterator<ResponseStreamEvent>,
  connection: AbortController,
  { call, onEvent }: Listener,
): Promise<ModelReply> {
  const items: ModelReply['items'] = [];
  for (let next = await events.next(); !next.done; next = await events.next()) {
    onEvent();
    const event = next.value as ReplyEvent;
    switch (event.type) {
      case 'response.output_text.delta':
        call.onDelta('text', event.delta);
        break;
      case 'response.reasoning_summary_text.delta':
        call.onDelta('reasoning', event.delta);
        break;
      case 'response.output_item.done': {
        const item = toReplyItem(event.item);
        if (item) items.push(item);
        break;
      }
      case 'response.completed':
        drain(events, connection);
        return {
          responseId: event.response.id ?? '',
          items,
          usage: toUsage(event.response.usage),
          endTurn: endsTurn(event.response),
        };
      case 'response.failed':
        throw toModelFailure({ ended: 'failed', error: event.response.error }, call.model);
      case 'response.incomplete':
        throw toModelFailure({ ended: 'incomplete', reason: event.response.incomplete_details?.reason });
    }
  }
  throw new Failure('model.stream-cut');
}

/** Codex models say with `end_turn: false` that they want to be asked again although they made no call. */
function endsTurn(response: Response & { end_turn?: boolean }): boolean {
  return response.end_turn !== false;
}

function drain(events: AsyncIterator<ResponseStreamEvent>, connection: AbortController): void {
  const limit = setTimeout(() => connection.abort(), drainLimitMs);
  const stop = () => clearTimeout(limit);
  events.next().then(stop, stop);
}

/** One client an endpoint and key; the ones used longest ago are forgotten. */
function createClients(): (model: Pick<ResolvedModel, 'baseUrl' | 'apiKey'>) => OpenAI {
  const clients = new Map<string, OpenAI>();
  return ({ baseUrl, apiKey }) => {
    const key = `${baseUrl}\n${apiKey}`;
    const client = clients.get(key) ?? createClient(baseUrl, apiKey);
    clients.delete(key);
    clients.set(key, client);
    for (const oldest of clients.keys()) {
      if (clients.size <= keptClients) break;
      clients.delete(oldest);
    }
    return client;
  };
}

/** What the library would read from the environment is set here, so that no key or tag of ours reaches a caller's endpoint. */
function createClient(baseURL: string, apiKey: string): OpenAI {
  return new OpenAI({
    baseURL,
    apiKey,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: neverMs,
    logLevel: 'off',
  });
}
