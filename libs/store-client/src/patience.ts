// patience.ts: every operation of the store is idempotent, so one that could not be served is simply repeated.
import type { HistoryStore } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';

export type Patience = {
  /** How long an operation is repeated while the store cannot serve it; default 60 s. */
  patienceMs?: number;
  /** Ends the repeating. */
  signal?: AbortSignal;
};

const defaultPatienceMs = 60_000;
const firstPauseMs = 25;
const longestPauseMs = 1_000;

/** Repeats `attempt` while it throws store.unavailable. @throws Failure anything else, or store.unavailable when the patience is used up */
export async function repeatWhileUnavailable<T>(patience: Patience, attempt: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + (patience.patienceMs ?? defaultPatienceMs);
  for (let pause = firstPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
    try {
      return await attempt();
    } catch (error) {
      const passing = error instanceof Failure && error.code === 'store.unavailable';
      if (!passing || patience.signal?.aborted || Date.now() + pause > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** A store in the same process that waits as its HTTP client does. `obstacle` says why the store cannot work yet. */
export function createPatientStore(
  store: HistoryStore,
  options: Patience & { obstacle: () => string | undefined },
): HistoryStore {
  const operations = Object.entries(store).map(([name, operation]) => {
    const run = operation as (request: unknown) => Promise<unknown>;
    const attempt = async (request: unknown) => {
      const detail = options.obstacle();
      if (detail !== undefined) throw new Failure('store.unavailable', { detail });
      return run(request);
    };
    return [name, (request: unknown) => repeatWhileUnavailable(options, () => attempt(request))] as const;
  });
  return Object.fromEntries(operations) as unknown as HistoryStore;
}
