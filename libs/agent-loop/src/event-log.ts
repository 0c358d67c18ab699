// event-log.ts: recorded events first, live ones after, without gap or repetition, for readers in the same process.
import type { SessionEvent, SessionId } from '@holdfast/protocol';
import type { EventSink } from './ports.ts';
import type { SessionLog } from './store.ts';

const pageSize = 500;

export class EventLog implements EventSink {
  readonly #wakers = new Map<SessionId, Set<() => void>>();

  /** The events themselves are read from the store; this only says that there are new ones. */
  publish(events: readonly SessionEvent[]): void {
    for (const sessionId of new Set(events.map((event) => event.sessionId))) {
      for (const wake of this.#wakers.get(sessionId) ?? []) wake();
    }
  }

  async *read(
    store: Pick<SessionLog, 'readEvents'>,
    sessionId: SessionId,
    options: { after?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<SessionEvent> {
    let after = options.after ?? 0;
    const signal = options.signal;
    while (!signal?.aborted) {
      const news = this.#nextNews(sessionId, signal);
      const page = await store.readEvents({ sessionId, after, limit: pageSize });
      for (const event of page) {
        if (signal?.aborted) return;
        yield event;
        after = event.seq;
      }
      if (page.length === 0) await news.promise;
      news.stop();
    }
  }

  #nextNews(
    sessionId: SessionId,
    signal: AbortSignal | undefined,
  ): { promise: Promise<void>; stop: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wakers = this.#wakers.get(sessionId) ?? new Set();
    this.#wakers.set(sessionId, wakers.add(resolve));
    signal?.addEventListener('abort', () => resolve(), { once: true });
    const stop = () => {
      wakers.delete(resolve);
      if (wakers.size === 0) this.#wakers.delete(sessionId);
    };
    return { promise, stop };
  }
}
