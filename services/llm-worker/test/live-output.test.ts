import { describe, expect, test } from 'vitest';
import { startHarness, toDeltaText } from './harness.ts';
import { sessionId, toRequest, turnId } from './recording-store.ts';

const never = new AbortController().signal;

describe('live output', () => {
  test('carries the fence of its attempt, keeps its order and adds up to the reply', async () => {
    const text = 'The quick brown fox jumps. '.repeat(8);
    await using harness = await startHarness({
      replies: [{ output: [{ reasoning: 'thinking hard' }, { text }], chunk: { size: 5 } }],
    });
    harness.store.reopen(1);
    await harness.streamer.sample(toRequest(), never);
    expect(harness.deltas.map(({ text: _text, ...rest }) => rest)).toEqual([
      { sessionId, turnId, step: 1, attempt: 2, kind: 'reasoning' },
      { sessionId, turnId, step: 1, attempt: 2, kind: 'text' },
    ]);
    expect(toDeltaText(harness.deltas, 'reasoning')).toBe('thinking hard');
    expect(toDeltaText(harness.deltas, 'text')).toBe(text);
  });

  test('comes while the model still speaks', async () => {
    await using harness = await startHarness({
      replies: [{ output: [{ text: 'first second' }], chunk: { size: 6 }, midGate: 'middle' }],
    });
    const arrived = Promise.withResolvers<string>();
    const push = harness.deltas.push.bind(harness.deltas);
    harness.deltas.push = (...deltas) => {
      arrived.resolve(toDeltaText(deltas, 'text'));
      return push(...deltas);
    };
    const sampling = harness.streamer.sample(toRequest(), never);
    expect(await arrived.promise).toBe('first ');
    expect(harness.store.commits).toEqual([]);
    harness.server.gate('middle').open();
    await sampling;
    expect(toDeltaText(harness.deltas, 'text')).toBe('first second');
  });
});
