import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSseParser, type SseMessage } from '../src/sse-parser.ts';

function parse(pieces: readonly string[]): SseMessage[] {
  const messages: SseMessage[] = [];
  const push = createSseParser((message) => messages.push(message));
  for (const piece of pieces) push(piece);
  return messages;
}

describe('the SSE parser', () => {
  test('reads event and data, and skips comments, ids and unknown fields', () => {
    const text = ': hello\n\nid: 7\nevent: text\nretry: 10\ndata: {"a":1}\n\ndata:x\n\n';
    expect(parse([text])).toEqual([
      { event: 'text', data: '{"a":1}' },
      { event: 'message', data: 'x' },
    ]);
  });

  test('joins several data lines and accepts CRLF', () => {
    expect(parse(['event: a\r\ndata: 1\r\ndata: 2\r\n\r\n'])).toEqual([{ event: 'a', data: '1\n2' }]);
  });

  test('holds an unfinished message back', () => {
    expect(parse(['data: 1\n', 'data: 2'])).toEqual([]);
  });

  test('gives the same messages wherever the text is cut', () => {
    const text = ': ping\n\nid: 1\nevent: step\ndata: {"step":1}\n\nid: 2\nevent: text\ndata: é😀\n\n';
    const whole = parse([text]);
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (cuts) => {
        const points = [0, ...cuts.toSorted((a, b) => a - b), text.length];
        const pieces = points.slice(1).map((end, index) => text.slice(points[index], end));
        expect(parse(pieces)).toEqual(whole);
      }),
    );
    expect(whole).toEqual([
      { event: 'step', data: '{"step":1}' },
      { event: 'text', data: 'é😀' },
    ]);
  });
});
