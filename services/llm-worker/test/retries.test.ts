import { defaultTuning, toSampleOptions } from '@holdfast/contracts';
import { Failure } from '@holdfast/failures';
import type { StepReply } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { failureSchedule } from '../src/domain/retries.ts';
import { withRetries, type AttemptStreamer, type SampleAttempt } from '../src/index.ts';
import { startHarness, toRejection } from './harness.ts';
import { toRequest } from './recording-store.ts';

const never = new AbortController().signal;
const done: StepReply = { kind: 'reply', calls: [], contextTokens: 0, endTurn: true };

/** Fails in the given ways, then answers. */
function createFailing(failures: readonly Error[]): {
  streamer: AttemptStreamer;
  attempts: (SampleAttempt | undefined)[];
} {
  const attempts: (SampleAttempt | undefined)[] = [];
  const streamer: AttemptStreamer = {
    sample: (_request, _signal, attempt) => {
      attempts.push(attempt);
      const failure = failures[attempts.length - 1];
      return failure ? Promise.reject(failure) : Promise.resolve(done);
    },
  };
  return { streamer, attempts };
}

function createClock() {
  const pauses: number[] = [];
  return { pauses, pause: (ms: number) => Promise.resolve(pauses.push(ms)) };
}

describe('retries without Temporal', () => {
  test('follow the schedule that the durable engine has for lost workers', () => {
    expect(toSampleOptions(defaultTuning).retry).toEqual({
      initialInterval: failureSchedule.firstPauseMs,
      backoffCoefficient: failureSchedule.factor,
      maximumInterval: `${failureSchedule.longestPauseMs / 1000} seconds`,
    });
  });

  test('double their pauses and give up after the eighth attempt', async () => {
    const clock = createClock();
    const { streamer, attempts } = createFailing(
      Array.from({ length: 9 }, () => new Failure('model.unavailable')),
    );
    const failure = await toRejection(withRetries(streamer, clock).sample(toRequest(), never));
    expect(failure).toMatchObject({ code: 'model.unavailable' });
    expect(clock.pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000]);
    expect(attempts).toEqual(
      Array.from({ length: 8 }, (_, index) => ({ number: index + 1, networkWaits: 0 })),
    );
  });

  test('wait for the network without an end, and count only the other failures', async () => {
    const clock = createClock();
    const away = Array.from({ length: 20 }, () => new Failure('model.unreachable'));
    const failing = Array.from({ length: 8 }, () => new Failure('model.unavailable'));
    const { streamer, attempts } = createFailing([...away, ...failing]);
    const failure = await toRejection(withRetries(streamer, clock).sample(toRequest(), never));
    expect(failure).toMatchObject({ code: 'model.unavailable' });
    expect(clock.pauses.slice(0, 6)).toEqual([5000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    expect(clock.pauses.slice(20)).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000]);
    expect(attempts.at(-1)).toEqual({ number: 28, networkWaits: 20 });
  });

  test('wait as long as the endpoint asked for', async () => {
    const clock = createClock();
    const { streamer } = createFailing([new Failure('model.rate-limited', { retryAfterMs: 123_456 })]);
    expect(await withRetries(streamer, clock).sample(toRequest(), never)).toEqual(done);
    expect(clock.pauses).toEqual([123_456]);
  });

  test.each(['model.overloaded', 'model.unauthorized', 'model.context-overflow', 'model.failed'] as const)(
    'do not repeat %s',
    async (code) => {
      const clock = createClock();
      const { streamer } = createFailing([new Failure(code)]);
      expect(await toRejection(withRetries(streamer, clock).sample(toRequest(), never))).toMatchObject({
        code,
      });
      expect(clock.pauses).toEqual([]);
    },
  );

  test('end with the abort that comes during a pause', async () => {
    const { streamer } = createFailing([new Failure('model.rate-limited', { retryAfterMs: 3_600_000 })]);
    const stop = new AbortController();
    const sampling = toRejection(withRetries(streamer).sample(toRequest(), stop.signal));
    stop.abort();
    expect(await sampling).toMatchObject({ name: 'AbortError' });
  });

  test('get through every failure that passes, over the wire', async () => {
    const clock = createClock();
    await using harness = await startHarness({
      replies: [
        { output: [{ text: 'a' }], fail: { status: 500 } },
        { output: [{ text: 'b' }], fail: { cut: { afterChunks: 1 } } },
      ],
    });
    const { store, server } = harness;
    const streamer = withRetries(harness.streamer, clock);
    await streamer.sample(toRequest(), never);
    await streamer.sample(toRequest(2), never);
    expect(clock.pauses).toEqual([500, 500]);
    expect(store.retries.map(({ step, fence, error }) => [step, fence, error.code])).toEqual([
      [1, 1, 'model.unavailable'],
      [2, 1, 'model.stream-cut'],
    ]);
    expect(store.commits.map(({ step, fence }) => [step, fence])).toEqual([
      [1, 2],
      [2, 2],
    ]);
    expect(server.requests.length).toBe(4);
  });
});
