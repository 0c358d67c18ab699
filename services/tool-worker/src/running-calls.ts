// running-calls.ts: which calls run in this process, and who may end them.
import type { SessionId, TurnId } from '@holdfast/protocol';
import type { CallOrigin } from './journal.ts';
import type { CallStop } from './tool.ts';

export type RunningCall<T> = {
  sessionId: SessionId;
  /** Known as soon as the call was claimed. */
  turnId?: TurnId;
  /** The newest claim of this process. */
  fence: number;
  /** Whose dispatch follows the call; absent while it was only announced, and in the in-process engine. */
  origin?: CallOrigin;
  stop: AbortController;
  result: Promise<T>;
};

/** Ended turns are remembered for a while: a claim may be on its way while the word of the end arrives. */
const rememberedTurns = 1_000;

export class RunningCalls<T> {
  readonly #calls = new Map<string, RunningCall<T>>();
  readonly #endedTurns = new Set<string>();

  get(key: string): RunningCall<T> | undefined {
    return this.#calls.get(key);
  }

  /** Runs `work` under this key until it settles; the key must not be running. */
  start(
    key: string,
    known: Pick<RunningCall<T>, 'sessionId' | 'origin'>,
    work: (call: RunningCall<T>) => Promise<T>,
  ): RunningCall<T> {
    const { promise: result, resolve, reject } = Promise.withResolvers<T>();
    const call: RunningCall<T> = { ...known, fence: 0, stop: new AbortController(), result };
    this.#calls.set(key, call);
    result.catch(() => undefined);
    void work(call)
      .then(resolve, reject)
      .finally(() => this.#calls.delete(key));
    return call;
  }

  setTurn(call: RunningCall<T>, turnId: TurnId): void {
    call.turnId = turnId;
    if (this.#endedTurns.has(`${call.sessionId}/${turnId}`)) stop(call, 'cancelled');
  }

  stopTurn(turn: { sessionId: SessionId; turnId: TurnId }): void {
    const name = `${turn.sessionId}/${turn.turnId}`;
    this.#endedTurns.add(name);
    if (this.#endedTurns.size > rememberedTurns) {
      for (const oldest of this.#endedTurns) {
        this.#endedTurns.delete(oldest);
        break;
      }
    }
    for (const call of this.#calls.values()) {
      if (call.sessionId === turn.sessionId && call.turnId === turn.turnId) stop(call, 'cancelled');
    }
  }

  /** Resolves when none runs any more. */
  async stopAll(reason: CallStop): Promise<void> {
    const calls = [...this.#calls.values()];
    for (const call of calls) stop(call, reason);
    await Promise.allSettled(calls.map((call) => call.result));
  }
}

export function stop(call: { stop: AbortController }, reason: CallStop): void {
  if (!call.stop.signal.aborted) call.stop.abort(reason);
}
