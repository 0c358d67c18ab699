import { Failure } from '@holdfast/failures';
import type { SessionDelivery } from '../src/ports/session-delivery.ts';

export type Delivered = { message: keyof SessionDelivery; sessionId: string; id: string };

/** An engine that notes what it takes; away, it refuses; stuck for a session, it never answers. */
export class RecordedDelivery implements SessionDelivery {
  available = true;
  readonly stuck = new Set<string>();
  readonly taken: Delivered[] = [];
  refused = 0;
  readonly #waiting: { count: number; resolve: () => void }[] = [];

  /** Resolves when this many messages have been taken altogether. */
  until(count: number): Promise<void> {
    if (this.taken.length >= count) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ count, resolve });
    return promise;
  }

  submit({ session, input }: Parameters<SessionDelivery['submit']>[0], signal: AbortSignal): Promise<void> {
    return this.#take(
      { message: 'submit', sessionId: session.sessionId, id: `${input.kind} ${input.inputId}` },
      signal,
    );
  }

  refreshTools(
    { session }: Parameters<SessionDelivery['refreshTools']>[0],
    signal: AbortSignal,
  ): Promise<void> {
    return this.#take(
      { message: 'refreshTools', sessionId: session.sessionId, id: session.machineId },
      signal,
    );
  }

  interrupt(
    { sessionId, turnId }: Parameters<SessionDelivery['interrupt']>[0],
    signal: AbortSignal,
  ): Promise<void> {
    return this.#take({ message: 'interrupt', sessionId, id: turnId }, signal);
  }

  approve(
    { sessionId, approvalId }: Parameters<SessionDelivery['approve']>[0],
    signal: AbortSignal,
  ): Promise<void> {
    return this.#take({ message: 'approve', sessionId, id: approvalId }, signal);
  }

  close({ sessionId }: { sessionId: string }, signal: AbortSignal): Promise<void> {
    return this.#take({ message: 'close', sessionId, id: '' }, signal);
  }

  async #take(delivered: Delivered, signal: AbortSignal): Promise<void> {
    if (!this.available) {
      this.refused += 1;
      throw new Failure('engine.temporal-unavailable');
    }
    if (this.stuck.has(delivered.sessionId)) {
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    }
    this.taken.push(delivered);
    for (const { count, resolve } of this.#waiting) if (this.taken.length >= count) resolve();
  }
}
