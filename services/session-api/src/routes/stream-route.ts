import type { EventBus } from '@holdfast/events';
import { EventFeed } from '../domain/event-feed.ts';
import { openEventViewer, type EventViewer, type ViewerLimits } from '../event-viewer.ts';
import type { SessionStore } from '../ports/session-store.ts';
import { failures, sessionParams, streamQuery } from '../public-schemas.ts';
import type { App } from './app.ts';

export type StreamDeps = {
  store: Pick<SessionStore, 'readSession' | 'readEvents'>;
  bus: Pick<EventBus, 'connected' | 'subscribeEvents' | 'subscribeDeltas'>;
  pace?: StreamPace;
  viewerLimits?: ViewerLimits;
};

/** How often the store is read without a sign of news, in milliseconds. */
export type StreamPace = {
  /** While the bus is away. */
  pollMs: number;
  /** While the bus is there, so that a lost message hides its event no longer than this. */
  safetyMs: number;
};

const streamPace: StreamPace = { pollMs: 500, safetyMs: 5_000 };

export function addStreamRoute(app: App, deps: StreamDeps): void {
  app.get(
    '/v1/sessions/:sessionId/events/stream',
    {
      schema: {
        summary: 'Follow a session as server-sent events',
        description:
          'Recorded events after `Last-Event-ID` (or `after`), then live ones: `id` is the seq, `event` the family, `data` the event. ' +
          'Live output comes between them as `text_delta`, `reasoning_delta` and `output_delta` without an id.',
        params: sessionParams,
        querystring: streamQuery,
        produces: ['text/event-stream'],
        response: failures,
      },
    },
    async (request, reply) => {
      const { sessionId } = request.params;
      const after = toCursor(request.headers['last-event-id']) ?? request.query.after;
      await deps.store.readSession({ sessionId });
      reply.hijack();
      const viewer = openEventViewer(reply.raw, deps.viewerLimits);
      const stop = follow(deps, { sessionId, after, viewer });
      if (reply.raw.destroyed) stop();
      else reply.raw.once('close', stop);
    },
  );
}

/** Subscribes first and reads the past second, so that nothing falls between the two. Returns how to stop. */
function follow(
  { store, bus, pace = streamPace }: StreamDeps,
  { sessionId, after, viewer }: { sessionId: string; after: number; viewer: EventViewer },
): () => void {
  const source = {
    readEvents: (from: number, limit: number) => store.readEvents({ sessionId, after: from, limit }),
  };
  const feed = new EventFeed({ source, viewer, after });
  const endEvents = bus.subscribeEvents(sessionId, (event) => feed.receive(event));
  const endDeltas = bus.subscribeDeltas(sessionId, (delta) => feed.receiveDelta(delta));
  let polledAt = Number.NEGATIVE_INFINITY;
  const timer = setInterval(() => {
    viewer.keepAlive();
    const now = performance.now();
    if (bus.connected() && now - polledAt < pace.safetyMs) return;
    polledAt = now;
    void feed.catchUp();
  }, pace.pollMs);
  void feed.catchUp();
  return () => {
    clearInterval(timer);
    feed.close();
    endEvents();
    endDeltas();
  };
}

function toCursor(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}
