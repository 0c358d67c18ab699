import { describe, expect, test } from 'vitest';
import { firstAttempt as first } from '../src/domain/retries.ts';
import { createRunningSamples } from '../src/domain/running-samples.ts';
import { startHarness, toRejection } from './harness.ts';
import { sessionId, toRequest, turnId } from './recording-store.ts';

const never = new AbortController().signal;

describe('a cancel hint', () => {
  test('ends the model call of a sealed turn at once, without a commit', async () => {
    await using harness = await startHarness({
      replies: [{ output: [{ text: 'ab' }], chunk: { size: 1 }, midGate: 'held' }],
    });
    const { store, server, streamer } = harness;
    const samples = createRunningSamples(streamer);
    const sampling = samples.run(toRequest(), never, first);
    await server.gate('held').waiting();
    store.sealed = 'cancelled';
    samples.cancel({ sessionId, turnId });
    expect(await sampling).toEqual({ kind: 'sealed', status: 'cancelled' });
    expect(store.commits).toEqual([]);
    expect(store.retries).toEqual([]);
  });

  test('that the store knows nothing of changes nothing but the attempt', async () => {
    await using harness = await startHarness({
      replies: [{ output: [{ text: 'ab' }], chunk: { size: 1 }, midGate: 'held' }],
    });
    const { store, server, streamer } = harness;
    const samples = createRunningSamples(streamer);
    const sampling = samples.run(toRequest(), never, first);
    await server.gate('held').waiting();
    server.gate('held').open();
    samples.cancel({ sessionId, turnId });
    expect(await sampling).toMatchObject({ kind: 'reply' });
    expect(store.commits.map(({ fence }) => fence)).toEqual([2]);
  });

  test('for another turn is ignored', async () => {
    await using harness = await startHarness({ replies: [{ output: [{ text: 'a' }], gate: 'held' }] });
    const samples = createRunningSamples(harness.streamer);
    const sampling = samples.run(toRequest(), never, first);
    await harness.server.gate('held').waiting();
    samples.cancel({ sessionId, turnId: 'in_2' });
    harness.server.gate('held').open();
    expect(await sampling).toMatchObject({ kind: 'reply' });
    expect(harness.store.opened.length).toBe(1);
  });

  test('that comes together with the own cancel of the activity does not start anything again', async () => {
    await using harness = await startHarness({ replies: [{ output: [{ text: 'a' }], gate: 'held' }] });
    const samples = createRunningSamples(harness.streamer);
    const stop = new AbortController();
    const sampling = toRejection(samples.run(toRequest(), stop.signal, first));
    await harness.server.gate('held').waiting();
    samples.cancel({ sessionId, turnId });
    stop.abort();
    await sampling;
    expect(harness.store.opened.length).toBe(1);
    expect(harness.store.commits).toEqual([]);
  });
});
