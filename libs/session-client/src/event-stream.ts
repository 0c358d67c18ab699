// event-stream.ts: a session's events over SSE for as long as the reader wants them, over any number of connections.
// E1  Events are yielded in order, without gap or repetition: a new connection asks for what follows the last one yielded.
// E2  A connection that ends, breaks or falls silent is replaced; only a refusal (4xx) or the reader's signal ends the stream.
import type { Failure } from '@holdfast/failures';
import type { Delta, SessionEvent } from '@holdfast/protocol';
import { openRequest, pauseFor, toFailure, type ApiOptions, type ApiReply } from './api-requests.ts';
import { createSseParser, type SseMessage } from './sse-parser.ts';

export type EventStreamOptions = {
  /** Only events with a greater `seq`; default 0. */
  after?: number;
  signal?: AbortSignal;
  /** Live pieces of output, as they come; some may be missing and none is repeated. Must not throw. */
  onDelta?: (delta: Delta) => void;
};

const firstPauseMs = 50;
const longestPauseMs = 1_000;
/** The server writes at least every 15 s; a connection that is silent for three times that is dead. */
const silenceLimitMs = 45_000;
const deltaEvents: ReadonlySet<string> = new Set(['text_delta', 'reasoning_delta', 'output_delta']);

/** @throws Failure when the session-api refuses the stream (for example session.unknown, auth.missing) */
export async function* readEventStream(
  api: ApiOptions,
  sessionId: string,
  options: EventStreamOptions = {},
): AsyncGenerator<SessionEvent> {
  const { signal } = options;
  let after = options.after ?? 0;
  let pause = firstPauseMs;
  while (!signal?.aborted) {
    const connection = new AbortController();
    const linked = signal ? AbortSignal.any([signal, connection.signal]) : connection.signal;
    try {
      for await (const batch of readConnection(api, { sessionId, after, signal: linked }, options.onDelta)) {
        pause = firstPauseMs;
        for (const event of batch) {
          if (signal?.aborted) return;
          if (event.seq !== after + 1) continue;
          after = event.seq;
          yield event; // E1
        }
      }
    } catch (error) {
      if (error instanceof Refusal) throw error.failure;
    } finally {
      connection.abort();
    }
    await pauseFor(pause, signal);
    pause = Math.min(pause * 2, longestPauseMs);
  }
}

class Refusal extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

type Connection = { sessionId: string; after: number; signal: AbortSignal };

/** The events of one connection, as they arrive together. @throws Refusal; anything else means that the connection is gone */
async function* readConnection(
  api: ApiOptions,
  { sessionId, after, signal }: Connection,
  onDelta: EventStreamOptions['onDelta'],
): AsyncGenerator<SessionEvent[]> {
  const headers = { accept: 'text/event-stream', 'last-event-id': String(after) };
  const path = `/v1/sessions/${encodeURIComponent(sessionId)}/events/stream`;
  const silence = watchSilence(signal);
  try {
    const response = await openRequest(api, { method: 'GET', path, headers, signal: silence.signal });
    if (!response.ok || !response.body) return await refuse(response);
    let batch: SessionEvent[] = [];
    const parse = createSseParser((message) => {
      if (!deltaEvents.has(message.event)) batch.push(toEvent(message));
      else onDelta?.(JSON.parse(message.data) as Delta);
    });
    const decoder = new TextDecoder();
    for await (const bytes of response.body) {
      silence.heard();
      parse(decoder.decode(bytes, { stream: true }));
      if (batch.length === 0) continue;
      const arrived = batch;
      batch = [];
      yield arrived;
      silence.heard();
    }
  } finally {
    silence.end();
  }
}

function toEvent(message: SseMessage): SessionEvent {
  return JSON.parse(message.data) as SessionEvent;
}

async function refuse(response: ApiReply): Promise<void> {
  const failure = await toFailure(response);
  if (response.status >= 400 && response.status < 500) throw new Refusal(failure);
}

/** A signal that aborts with the given one, or when nothing was heard for too long. A reader that is slow itself is not silence. */
function watchSilence(signal: AbortSignal): { signal: AbortSignal; heard(): void; end(): void } {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), silenceLimitMs);
  return {
    signal: AbortSignal.any([signal, silent.signal]),
    heard: () => {
      timer.refresh();
    },
    end: () => clearTimeout(timer),
  };
}
