// outbox.ts: committed events go to the event stream at once; what was missed (a crash, NATS away) is found and sent by a sweep.
// O1  Per session, one process sends in order; the next batch of a session goes out when the stream has stored the one before.
// O2  The watermark of a session only grows over events that are in the stream, without a gap.
// O3  Nothing here can fail or slow a request. Sending twice is harmless: the stream drops what it has, viewers drop what they saw.
import type { EventBus } from '@holdfast/events';
import type { SessionEvent, SessionId } from '@holdfast/protocol';
import type { Logger } from '@holdfast/telemetry';
import type { Database } from './adapters/database.ts';
import { readStatement } from './adapters/statements.ts';

export type OutboxOptions = {
  /** A commit that is lost here costs a repeated publication only, so it need not be durable. */
  database: Database;
  bus: Pick<EventBus, 'connected' | 'publishEvents'>;
  /** Makes the stream where it is missing. */
  ensureStream: () => Promise<void>;
  logger: Logger;
};

const sweepIntervalMs = 2_000;
const markIntervalMs = 500;
/** Younger commits are still on their way through `publish` and the next mark. */
const settledAfterMs = 1_500;
/** What waits for one session beyond this number of events is left to the sweep. */
const waitingLimit = 2_000;
const pageSize = 500;
/** As long as the stream keeps events; viewers that were away longer read the store. */
const worthSendingMs = 3_600_000;

type Range = { first: number; last: number };
type Unpublished = { sessionId: SessionId; publishedSeq: number };

const listUnpublished = readStatement('list-unpublished');
const markPublished = readStatement('mark-published');
const readEvents = readStatement('read-events');

export class Outbox {
  readonly #options: OutboxOptions;
  /** Events that wait behind the batch that is being sent. */
  readonly #waiting = new Map<SessionId, SessionEvent[]>();
  /** What the stream has stored since the last mark. */
  readonly #stored = new Map<SessionId, Range>();
  readonly #sweepTimer: NodeJS.Timeout;
  #markTimer: NodeJS.Timeout | undefined;
  #marking: Promise<void> = Promise.resolve();
  #sweeping: Promise<void> | undefined;
  #streamReady = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#sweepTimer = setInterval(() => void this.sweep(), sweepIntervalMs);
  }

  /** Takes the events of one commit and returns at once. */
  publish(events: readonly SessionEvent[]): void {
    const id = events[0]?.sessionId;
    if (id === undefined || !this.#options.bus.connected()) return;
    const waiting = this.#waiting.get(id);
    if (!waiting) {
      const fresh = [...events];
      this.#waiting.set(id, fresh);
      setImmediate(() => void this.#drain(id, fresh));
    } else if (waiting.length < waitingLimit) waiting.push(...events);
    else waiting.length = 0;
  }

  /** Sends what is committed and not known to be in the stream, whoever left it behind. One sweep runs at a time. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweepAll().finally(() => (this.#sweeping = undefined));
    return this.#sweeping;
  }

  /** Ends the timers and writes the last watermarks. */
  async close(): Promise<void> {
    clearInterval(this.#sweepTimer);
    clearTimeout(this.#markTimer);
    await this.#marking;
    await this.#mark();
  }

  async #drain(id: SessionId, waiting: SessionEvent[]): Promise<void> {
    try {
      while (waiting.length > 0) await this.#send(waiting.splice(0, pageSize)); // O1
    } catch {
      this.#streamReady = false;
    } finally {
      this.#waiting.delete(id);
    }
  }

  async #send(events: readonly SessionEvent[]): Promise<void> {
    await this.#options.bus.publishEvents(events);
    for (const { sessionId, seq } of events) this.#noteStored(sessionId, { first: seq, last: seq });
  }

  /** After a gap (another process committed in between) the older range stays, and the sweep looks after the rest (O2). */
  #noteStored(id: SessionId, range: Range): void {
    const known = this.#stored.get(id);
    if (!known) this.#stored.set(id, range);
    else if (range.first <= known.last + 1) known.last = Math.max(known.last, range.last);
    this.#markTimer ??= setTimeout(() => {
      this.#marking = this.#mark();
    }, markIntervalMs);
  }

  async #mark(): Promise<void> {
    this.#markTimer = undefined;
    if (this.#stored.size === 0) return;
    const ids = [...this.#stored.keys()];
    const ranges = [...this.#stored.values()];
    this.#stored.clear();
    const values = [ids, ranges.map((range) => range.first), ranges.map((range) => range.last)];
    await this.#options.database.query(markPublished, values).catch(() => undefined);
  }

  async #sweepAll(): Promise<void> {
    const { bus, database, ensureStream, logger } = this.#options;
    if (!bus.connected()) return;
    try {
      if (!this.#streamReady) await ensureStream();
      this.#streamReady = true;
      for (const session of await database.query<Unpublished>(listUnpublished, [settledAfterMs])) {
        if (!this.#waiting.has(session.sessionId) && !this.#stored.has(session.sessionId))
          await this.#sweepSession(session);
      }
    } catch (error) {
      this.#streamReady = false;
      logger.debug({ err: error }, 'events could not be published; the next sweep tries again');
    }
  }

  async #sweepSession(session: Unpublished): Promise<void> {
    const { bus, database } = this.#options;
    const id = session.sessionId;
    const oldest = Date.now() - worthSendingMs;
    let after = session.publishedSeq;
    for (;;) {
      const [row] = await database.query<{ page: SessionEvent[] }>(readEvents, [id, after, pageSize]);
      const last = row?.page.at(-1);
      if (!row || !last) return;
      const recent = row.page.filter((event) => Date.parse(event.at) > oldest);
      await bus.publishEvents(recent);
      this.#noteStored(id, { first: after + 1, last: last.seq });
      after = last.seq;
    }
  }
}
