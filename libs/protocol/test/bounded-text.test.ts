import { boundEnds, boundText } from '@holdfast/protocol';
import { assert, integer, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';

const toBytes = (text: string) => new TextEncoder().encode(text).length;
/** Text of any characters, also such as take two, three and four bytes, and halves of surrogate pairs. */
const anyText = string({ unit: 'binary', maxLength: 200 });
const largerText = string({ unit: 'binary', minLength: 50, maxLength: 200 });

describe('the bound on what the model reads', () => {
  test('leaves a text alone that fits exactly', () => {
    expect(boundText('12345678', { tokens: 2 })).toEqual({
      text: '12345678',
      cut: false,
      tokens: 2,
      originalTokens: 2,
      totalLines: 1,
    });
  });

  test('keeps half from each end and says what is missing', () => {
    const bounded = boundText('aaaa\nbbbb\ncccc\ndddd\n', { tokens: 2 });
    expect(bounded).toEqual({
      text: 'Warning: truncated output (original token count: 5)\nTotal output lines: 4\n\naaaa…3 tokens truncated…ddd\n',
      cut: true,
      tokens: 27,
      originalTokens: 5,
      totalLines: 4,
    });
  });

  test('does not split characters of four bytes', () => {
    const bounded = boundText('😀😀😀😀😀', { tokens: 3 });
    expect(bounded.text.split('\n').at(-1)).toBe('😀…3 tokens truncated…😀');
  });

  test('counts the lines of an empty text as none and a last line without a break as one', () => {
    expect(
      ['', 'a', 'a\n', 'a\nb', '\n\n'].map((text) => boundText(text, { tokens: 10 }).totalLines),
    ).toEqual([0, 1, 1, 2, 2]);
  });

  test('leaves every text alone that fits', () => {
    assert(
      property(anyText, (text) => {
        const size = Math.ceil(toBytes(text) / 4);
        const bounded = boundText(text, { tokens: size });
        expect([bounded.text, bounded.cut, bounded.tokens, bounded.originalTokens]).toEqual([
          text,
          false,
          size,
          size,
        ]);
      }),
    );
  });

  test('keeps both ends of a larger text, whole characters only, within the bound', () => {
    assert(
      property(largerText, integer({ min: 1, max: 10 }), (text, tokens) => {
        const bounded = boundText(text, { tokens });
        const body = bounded.text.slice(bounded.text.indexOf('\n\n') + 2);
        const [head = '', missing, tail = ''] = body.split(/…(\d+) tokens truncated…/);
        expect([bounded.cut, text.startsWith(head), text.endsWith(tail)]).toEqual([true, true, true]);
        expect([head.isWellFormed(), tail.isWellFormed()]).toEqual([true, true]);
        expect(Math.max(toBytes(head), toBytes(tail))).toBeLessThanOrEqual(tokens * 2);
        expect(Math.min(toBytes(head), toBytes(tail))).toBeGreaterThan(tokens * 2 - 4);
        expect(Number(missing)).toBe(Math.ceil((toBytes(text) - toBytes(head) - toBytes(tail)) / 4));
        expect(bounded.tokens).toBe(Math.ceil(toBytes(bounded.text) / 4));
      }),
    );
  });

  test('counts half a surrogate pair as the three bytes it is written with', () => {
    expect(boundText('\ud83d'.repeat(4), { tokens: 3 })).toEqual({
      text: '\ud83d'.repeat(4),
      cut: false,
      tokens: 3,
      originalTokens: 3,
      totalLines: 1,
    });
  });

  test('needs only the two ends of a text that is too large', () => {
    assert(
      property(largerText, (text) => {
        const tokens = 10;
        const whole = boundText(text, { tokens });
        const ends = {
          head: text.slice(0, 25),
          tail: text.slice(-25),
          totalBytes: toBytes(text),
          totalLines: whole.totalLines,
        };
        expect(boundEnds(ends, { tokens })).toEqual(whole);
      }),
    );
  });
});
