// event-feed.ts: one viewer's picture of one session, made from the store's past and the bus's present.
// F1  Events go out in order, each once, without gap, whatever the bus loses, repeats or reorders: only `seen + 1` is ever sent.
// F2  A live event that follows directly is sent at once; one that does not is only a sign that the store has more.
// F3  The store is read by one reader at a time, until it has nothing more to give.
import type { Delta, SessionEvent } from '@holdfast/protocol';
import { DeltaFilter } from './delta-filter.ts';

export type FeedViewer = {
  /** Resolves when the viewer can take more; recorded events are not read faster than it does. */
  sendEvent(event: SessionEvent): Promise<void> | undefined;
  sendDelta(delta: Delta): void;
};

export type FeedSource = {
  /** Events with `seq > after`, in order, at most `limit`. */
  readEvents(after: number, limit: number): Promise<SessionEvent[]>;
};

/** A page is held in memory while a slow viewer takes it. */
const pageSize = 200;

export class EventFeed {
  readonly #source: FeedSource;
  readonly #viewer: FeedViewer;
  readonly #deltas = new DeltaFilter();
  #seen: number;
  /** The newest event that the bus has announced. */
  #known = 0;
  #reading = false;
  #closed = false;

  /** @param options.after the last event the viewer has already */
  constructor(options: { source: FeedSource; viewer: FeedViewer; after: number }) {
    this.#source = options.source;
    this.#viewer = options.viewer;
    this.#seen = options.after;
  }

  /** A live event. */
  receive(event: SessionEvent): void {
    if (this.#closed || event.seq <= this.#seen) return;
    if (event.seq === this.#seen + 1) {
      void this.#send(event); // F2
      return;
    }
    this.#known = Math.max(this.#known, event.seq);
    void this.catchUp();
  }

  receiveDelta(delta: Delta): void {
    if (!this.#closed && this.#deltas.accepts(delta)) this.#viewer.sendDelta(delta);
  }

  /** Reads on from the store. A store that is away is asked again at the next call. */
  async catchUp(): Promise<void> {
    if (this.#reading || this.#closed) return; // F3
    this.#reading = true;
    try {
      while (await this.#readPage());
    } catch {
      return;
    } finally {
      this.#reading = false;
    }
  }

  close(): void {
    this.#closed = true;
  }

  /** True when there is more to read. */
  async #readPage(): Promise<boolean> {
    const before = this.#seen;
    const announced = this.#known;
    const page = await this.#source.readEvents(before, pageSize);
    for (const event of page) {
      if (this.#closed) return false;
      if (event.seq === this.#seen + 1) await this.#send(event);
    }
    if (this.#closed) return false;
    const progressed = this.#seen > before;
    if (progressed && page.length === pageSize) return true;
    return this.#known > this.#seen && (progressed || this.#known > announced);
  }

  #send(event: SessionEvent): Promise<void> | undefined {
    this.#seen = event.seq; // F1
    this.#deltas.observe(event);
    return this.#viewer.sendEvent(event);
  }
}
