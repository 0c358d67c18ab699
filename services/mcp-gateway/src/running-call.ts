// running-call.ts: one call that this process runs, however many dispatches of it wait for the result.
// R1  The call goes on while anybody waits for it; when the last one gives up, the request to the server is cancelled.
// R2  A turn that was ended elsewhere ends the call at once, whoever waits.
import type { CallOutput, TurnId } from '@holdfast/protocol';

/** What a dispatch gets: the output, or that the turn is over. */
export type CallEnd = { kind: 'output'; output: CallOutput } | { kind: 'turn-ended' };

export class RunningCall {
  readonly turnId: TurnId;
  /** Of the newest claim: the only one that may write. */
  fence: number;
  readonly #abort = new AbortController();
  readonly #end: Promise<CallEnd>;
  #waiting = 0;
  #turnEnded = false;

  constructor(options: {
    turnId: TurnId;
    fence: number;
    run: (call: RunningCall, signal: AbortSignal) => Promise<CallOutput>;
  }) {
    this.turnId = options.turnId;
    this.fence = options.fence;
    this.#end = options.run(this, this.#abort.signal).then(
      (output) => ({ kind: 'output', output }),
      (error: unknown) => {
        if (this.#turnEnded) return { kind: 'turn-ended' };
        throw error;
      },
    );
    this.#end.catch(() => undefined);
  }

  /** True when nobody waits for it. */
  get idle(): boolean {
    return this.#waiting === 0;
  }

  /** @throws `signal.reason` after an abort */
  async wait(signal: AbortSignal): Promise<CallEnd> {
    const { promise: gaveUp, reject } = Promise.withResolvers<never>();
    const giveUp = () => reject(signal.reason as Error);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    this.#waiting += 1;
    try {
      return await Promise.race([this.#end, gaveUp]);
    } finally {
      signal.removeEventListener('abort', giveUp);
      this.#waiting -= 1;
      if (signal.aborted && this.#waiting === 0) this.#abort.abort(signal.reason);
    }
  }

  endTurn(): void {
    this.#turnEnded = true;
    this.#abort.abort(new Error('the turn has ended'));
  }
}
