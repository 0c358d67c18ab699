// retries.ts: what follows a failed attempt at a step, the same for both engines, and repeating without Temporal.
// R1  Failures that pass are repeated up to `attempts` times; a pause that the endpoint asked for replaces the schedule's own.
// R2  While there is no network the turn waits as long as it takes, and these attempts do not count.
// R3  A pause that people would wonder about is told as waiting, a shorter one as a note.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelStreamer } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import type { AttemptStreamer, SampleAttempt } from './ports.ts';

type Schedule = { firstPauseMs: number; factor: number; longestPauseMs: number };

/** The last of these attempts ends the turn with its failure. */
export const countedAttempts = 8;
export const failureSchedule: Schedule = { firstPauseMs: 500, factor: 2, longestPauseMs: 60_000 };
/** Of Codex, which waits for the network in the same way. */
const networkSchedule: Schedule = { firstPauseMs: 5_000, factor: 2, longestPauseMs: 60_000 };
const toldPauseMs = 2_000;

export const firstAttempt: SampleAttempt = { number: 1, networkWaits: 0 };

export type NextAttempt = { pauseMs: number; waiting?: 'api-limit' | 'network' };

/** Asking the model again may help. */
function isRepeatable(error: unknown): error is Failure {
  return error instanceof Failure && (error.class === 'transient' || error.class === 'api-limit');
}

/** Attempts so far that count, this one included. */
export function toCount({ number, networkWaits }: SampleAttempt): number {
  return number - networkWaits;
}

/** Undefined when nobody asks again. */
export function toNextAttempt(error: unknown, attempt: SampleAttempt): NextAttempt | undefined {
  if (!isRepeatable(error)) return undefined;
  if (error.code === 'model.unreachable')
    return { pauseMs: toPauseMs(networkSchedule, attempt.networkWaits + 1), waiting: 'network' }; // R2
  if (toCount(attempt) >= countedAttempts) return undefined; // R1
  const pauseMs = error.retryAfterMs ?? toPauseMs(failureSchedule, toCount(attempt));
  const isTold = error.class === 'api-limit' && pauseMs >= toldPauseMs;
  return { pauseMs, ...(isTold ? { waiting: 'api-limit' } : {}) }; // R3
}

/** The attempt after one that failed with `error`. */
export function toFollowing(attempt: SampleAttempt, next: NextAttempt): SampleAttempt {
  const { number, networkWaits } = attempt;
  return { number: number + 1, networkWaits: networkWaits + (next.waiting === 'network' ? 1 : 0) };
}

export type RetryOptions = {
  /** Waits; rejects when the signal aborts first. */
  pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
};

/** Repeats as R1 and R2 say, for the engine that has no Temporal to do it. */
export function withRetries(streamer: AttemptStreamer, options: RetryOptions = {}): ModelStreamer {
  const { pause = (ms, signal) => sleep(ms, undefined, { signal }) } = options;
  return {
    async sample(request, signal) {
      for (let attempt = firstAttempt; ;) {
        try {
          return await streamer.sample(request, signal, attempt);
        } catch (error) {
          signal.throwIfAborted();
          const next = toNextAttempt(error, attempt);
          if (!next) throw error;
          await pause(next.pauseMs, signal);
          attempt = toFollowing(attempt, next);
        }
      }
    },
  };
}

function toPauseMs({ firstPauseMs, factor, longestPauseMs }: Schedule, repeat: number): number {
  return Math.min(firstPauseMs * factor ** (repeat - 1), longestPauseMs);
}
