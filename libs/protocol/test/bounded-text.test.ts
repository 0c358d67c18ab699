import { boundEnds, boundText, toOutputBound } from '@holdfast/protocol';
import { array, assert, integer, property, string } from 'fast-check';
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

describe('the bound on lines', () => {
  const bound = { lines: 4, bytes: 40 };
  const toLines = (count: number) =>
    Array.from({ length: count }, (_value, index) => `${index + 1}\n`).join('');

  test('says the number of lines first and keeps the same number of lines from each end', () => {
    expect(boundText(toLines(7), bound)).toEqual({
      text: 'Total output lines: 7\n\n1\n2\n[... omitted 3 of 7 lines ...]\n\n6\n7\n',
      cut: true,
      tokens: 16,
      originalTokens: 4,
      totalLines: 7,
    });
    expect(boundText('1\n2\n3\n4\n5\n6', bound).text).toBe(
      'Total output lines: 6\n\n1\n2\n[... omitted 2 of 6 lines ...]\n\n5\n6',
    );
  });

  test('leaves alone what fits in lines and in bytes', () => {
    expect(boundText(toLines(4), bound)).toMatchObject({ text: toLines(4), cut: false });
    expect(boundText('x'.repeat(40), bound).cut).toBe(false);
  });

  test('cuts inside of lines where whole ones are too long, without splitting a character', () => {
    expect(boundText('😀'.repeat(11), bound).text).toBe(
      `Total output lines: 1\n\n${'😀'.repeat(5)}\n[... output truncated to fit 40 bytes ...]\n\n${'😀'.repeat(5)}`,
    );
    const long = `${'a'.repeat(30)}\n`;
    expect(boundText(long.repeat(5), bound).text).toBe(
      `Total output lines: 5\n\n${'a'.repeat(20)}\n[... omitted 3 of 5 lines ...]\n\n${'a'.repeat(19)}\n`,
    );
  });

  test('keeps to the bound, shows only what is there, and does the same with the ends alone', () => {
    const line = string({ unit: 'binary', maxLength: 12 });
    const output = array(line, { maxLength: 12 }).map((lines) => lines.join('\n'));
    assert(
      property(output, integer({ min: 2, max: 8 }), integer({ min: 8, max: 60 }), (text, lines, bytes) => {
        const whole = boundText(text, { lines, bytes });
        if (!whole.cut) return;
        const [, head = '', tail = ''] =
          /^Total output lines: \d+\n\n([^]*?)\[\.\.\. (?:omitted|output) [^\n]*\]\n\n([^]*)$/.exec(
            whole.text,
          ) ?? [];
        expect(text.toWellFormed().startsWith(head.replace(/\n$/, '').toWellFormed())).toBe(true);
        expect(text.endsWith(tail)).toBe(true);
        expect(toBytes(head.replace(/\n$/, ''))).toBeLessThanOrEqual(bytes / 2);
        expect(toBytes(tail)).toBeLessThanOrEqual(Math.ceil(bytes / 2));
        const half = Math.ceil(bytes / 2) + 4;
        const ends = { head: text.slice(0, half), tail: text.slice(-half) };
        expect(
          boundEnds({ ...ends, totalBytes: toBytes(text), totalLines: whole.totalLines }, { lines, bytes }),
        ).toEqual(whole);
      }),
    );
  });

  test('is chosen by style', () => {
    expect([toOutputBound(), toOutputBound('tokens', 5), toOutputBound('lines')]).toEqual([
      { tokens: 10_000 },
      { tokens: 5 },
      { lines: 256, bytes: 10_240 },
    ]);
  });
});
