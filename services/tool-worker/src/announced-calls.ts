// announced-calls.ts: calls that were started on an announcement and wait for their dispatch.
// A1  What ended well is kept until its dispatch comes, so that the dispatch needs no question to the store.
// A2  What did not end well is forgotten: the dispatch then starts from the claim, as if nothing had been announced.
// A3  While no dispatch comes the owner is asked, again and again, to find out whether the call is still wanted.
import type { RunningCall } from './running-calls.ts';

/** Far more than can wait for a dispatch at one time; the oldest go first. */
const keptCalls = 1_000;

type Announced<T> = { call: RunningCall<T>; timer: NodeJS.Timeout };

export class AnnouncedCalls<T extends { kind: string }> {
  readonly #calls = new Map<string, Announced<T>>();
  readonly #patienceMs: number;

  constructor({ patienceMs }: { patienceMs: number }) {
    this.#patienceMs = patienceMs;
  }

  has(key: string): boolean {
    return this.#calls.has(key);
  }

  /** `askWhetherWanted` must not reject. */
  add(key: string, call: RunningCall<T>, askWhetherWanted: (call: RunningCall<T>) => Promise<void>): void {
    const timer = setInterval(() => void askWhetherWanted(call), this.#patienceMs).unref();
    const announced = { call, timer };
    this.#calls.set(key, announced);
    const forget = () => {
      if (this.#calls.get(key) === announced) this.#calls.delete(key);
    };
    call.result
      .then((result) => {
        if (result.kind !== 'finished') forget(); // A2
      }, forget)
      .finally(() => clearInterval(timer));
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size <= keptCalls) break;
      this.take(oldest);
    }
  }

  /** The call belongs to its dispatch from now on. */
  take(key: string): RunningCall<T> | undefined {
    const announced = this.#calls.get(key);
    if (!announced) return undefined;
    clearInterval(announced.timer);
    this.#calls.delete(key);
    return announced.call;
  }
}
