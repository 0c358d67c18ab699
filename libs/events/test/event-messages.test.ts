import type { SessionEvent } from '@holdfast/protocol';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toEventMessages } from '../src/event-messages.ts';

const toEvent = (seq: number, chars = 10): SessionEvent => ({
  type: 'text',
  sessionId: 's1',
  turnId: 't1',
  step: 1,
  seq,
  at: '2026-01-01T00:00:00.000Z',
  text: 'x'.repeat(chars),
});
const seqsOf = (text: string) => (JSON.parse(text) as SessionEvent[]).map(({ seq }) => seq);

describe('the events of a commit', () => {
  test('are one message', () => {
    const messages = toEventMessages([toEvent(4), toEvent(5)]);
    expect(messages.map(({ msgID, text }) => [msgID, seqsOf(text)])).toEqual([['s1:4-5', [4, 5]]]);
  });

  test('are no message when there are none', () => {
    expect(toEventMessages([])).toEqual([]);
  });

  test('are parted at a gap, so that equal ids mean equal events', () => {
    const messages = toEventMessages([toEvent(1), toEvent(3), toEvent(4)]);
    expect(messages.map(({ msgID }) => msgID)).toEqual(['s1:1-1', 's1:3-4']);
  });

  test('stay below the limit of NATS, complete and in order', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 200_000 }), { maxLength: 20 });
    fc.assert(
      fc.property(sizes, (chars) => {
        const messages = toEventMessages(chars.map((size, index) => toEvent(index + 1, size)));
        expect(messages.flatMap(({ text }) => seqsOf(text))).toEqual(chars.map((_, index) => index + 1));
        for (const { text } of messages) expect(text.length).toBeLessThan(1024 * 1024);
      }),
    );
  });
});
