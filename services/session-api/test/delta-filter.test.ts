import type { Delta, EventBody } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { DeltaFilter } from '../src/domain/delta-filter.ts';

const sessionId = '0f9a3c52-6f0c-4bb8-9a53-6f1c7a7d2a11';

function observe(filter: DeltaFilter, turnId: string, ...bodies: EventBody[]): void {
  for (const body of bodies) filter.observe(Object.assign({ seq: 1, sessionId, turnId, at: '' }, body));
}

function text(step: number, attempt: number, turnId = 't'): Delta {
  return { sessionId, turnId, attempt, kind: 'text', step, text: 'x' };
}

function output(callId: string, attempt: number, turnId = 't'): Delta {
  return { sessionId, turnId, attempt, kind: 'output', callId, text: 'x' };
}

const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, reasoningOutputTokens: 0 };
const replied = (step: number): EventBody => ({
  type: 'usage',
  step,
  responseId: 'r',
  usage,
  contextTokens: 1,
});
const result = (callId: string): EventBody => ({
  type: 'tool_result',
  callId,
  tool: 'exec_command',
  status: 'ok',
  text: '',
  durationMs: 1,
});

describe('live output', () => {
  test('of an older attempt is dropped once a newer one has spoken', () => {
    const filter = new DeltaFilter();
    const pieces = [
      text(1, 1),
      text(1, 2),
      text(1, 1),
      output('1.1.0', 5),
      output('1.1.1', 4),
      output('1.1.0', 4),
    ];
    expect(pieces.map((delta) => filter.accepts(delta))).toEqual([true, true, false, true, true, false]);
  });

  test('of a reply that is recorded is dropped; its calls go on speaking until their result', () => {
    const filter = new DeltaFilter();
    observe(filter, 't', { type: 'step', step: 1, status: 'started' }, replied(1));
    expect([text(1, 9), text(2, 1), output('1.1.0', 1)].map((delta) => filter.accepts(delta))).toEqual([
      false,
      true,
      true,
    ]);
    observe(filter, 't', result('1.1.0'));
    expect([output('1.1.0', 9), output('1.1.1', 1)].map((delta) => filter.accepts(delta))).toEqual([
      false,
      true,
    ]);
    observe(filter, 't', { type: 'step', step: 1, status: 'completed' });
    expect([output('1.1.1', 9), output('1.2.0', 1)].map((delta) => filter.accepts(delta))).toEqual([
      false,
      true,
    ]);
  });

  test('of an ended turn is dropped, of the next one it passes before its first event', () => {
    const filter = new DeltaFilter();
    observe(filter, 't', { type: 'status', status: 'waiting', reason: 'machine', detail: '' });
    expect(filter.accepts(text(1, 1))).toBe(true);
    observe(filter, 't', { type: 'status', status: 'cancelled' });
    expect(filter.accepts(text(1, 2))).toBe(false);
    expect(filter.accepts(text(1, 1, 'next'))).toBe(true);
  });
});
