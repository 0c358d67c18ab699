import type { CancelHint, EventBus, MachineReply, MachineRequest } from '@holdfast/events';
import type { Delta, SessionEvent } from '@holdfast/protocol';

/** The bus in one process: delivers at once to whoever is subscribed now, and can be away. */
export class LocalBus implements EventBus {
  available = true;
  readonly cancels: { audience: string; hint: CancelHint }[] = [];
  readonly #events = new Set<{ sessionId: string; receive: (event: SessionEvent) => void }>();
  readonly #deltas = new Set<{ sessionId: string; receive: (delta: Delta) => void }>();

  get viewers(): number {
    return this.#events.size + this.#deltas.size;
  }

  connected(): boolean {
    return this.available;
  }

  ready(): Promise<void> {
    return Promise.resolve();
  }

  async publishEvents(events: readonly SessionEvent[]): Promise<void> {
    if (!this.available) throw new Error('away');
    for (const event of events) {
      for (const { sessionId, receive } of this.#events) if (sessionId === event.sessionId) receive(event);
    }
  }

  publishDelta(delta: Delta): void {
    if (!this.available) return;
    for (const { sessionId, receive } of this.#deltas) if (sessionId === delta.sessionId) receive(delta);
  }

  publishCancel(audience: string, hint: CancelHint): void {
    this.cancels.push({ audience, hint });
  }

  publishCalls(): void {
    throw new Error('the public door announces no calls');
  }

  subscribeEvents(sessionId: string, receive: (event: SessionEvent) => void): () => void {
    const subscription = { sessionId, receive };
    this.#events.add(subscription);
    return () => void this.#events.delete(subscription);
  }

  subscribeDeltas(sessionId: string, receive: (delta: Delta) => void): () => void {
    const subscription = { sessionId, receive };
    this.#deltas.add(subscription);
    return () => void this.#deltas.delete(subscription);
  }

  subscribeCalls(): () => void {
    throw new Error('the public door runs no calls');
  }

  subscribeCancels(): () => void {
    throw new Error('the public door listens to no cancels');
  }

  /** Asked of machines that nobody plays; one that is played answers. */
  readonly asked: { machineId: string; request: MachineRequest }[] = [];
  machine: ((request: MachineRequest) => MachineReply<MachineRequest>) | undefined;

  async askMachine<Request extends MachineRequest>(
    machineId: string,
    request: Request,
  ): Promise<MachineReply<Request> | undefined> {
    this.asked.push({ machineId, request });
    return Promise.resolve(this.machine?.(request) as MachineReply<Request> | undefined);
  }

  answerMachine(): () => void {
    throw new Error('the public door is no machine');
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
