// retries.ts: repeating attempts without Temporal, on the schedule that the durable engine has (contracts: toSampleOptions).
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelStreamer } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import type { AttemptStreamer } from './ports.ts';

export type RetryPolicy = { attempts: number; firstPauseMs: number; factor: number; longestPauseMs: number };

export const defaultRetryPolicy: RetryPolicy = {
  attempts: 8,
  firstPauseMs: 500,
  factor: 2,
  longestPauseMs: 60_000,
};

export type RetryOptions = {
  policy?: RetryPolicy;
  /** Waits; rejects when the signal aborts first. */
  pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
};

/** Asking the model again may help. */
export function isRepeatable(error: unknown): error is Failure {
  return error instanceof Failure && (error.class === 'transient' || error.class === 'api-limit');
}

/** Repeats repeatable failures until the policy is used up; a pause that the endpoint asked for replaces the policy's own. */
export function withRetries(streamer: AttemptStreamer, options: RetryOptions = {}): ModelStreamer {
  const { policy = defaultRetryPolicy, pause = (ms, signal) => sleep(ms, undefined, { signal }) } = options;
  return {
    async sample(request, signal) {
      for (let attempt = 1; ; attempt += 1) {
        const isLast = attempt >= policy.attempts;
        try {
          return await streamer.sample(request, signal, { isLast });
        } catch (error) {
          signal.throwIfAborted();
          if (isLast || !isRepeatable(error)) throw error;
          await pause(error.retryAfterMs ?? toPauseMs(policy, attempt), signal);
        }
      }
    },
  };
}

function toPauseMs(policy: RetryPolicy, attempt: number): number {
  return Math.min(policy.firstPauseMs * policy.factor ** (attempt - 1), policy.longestPauseMs);
}
