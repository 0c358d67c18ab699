import { describe, expect, test } from 'vitest';
import { toCleanJson, toCleanText } from '../src/clean-text.ts';

describe('text that Postgres cannot keep', () => {
  test('becomes the replacement character in values and in names, at any depth', () => {
    const value = { plain: 'a\0b', list: ['\uD83D', { 'key\0': '\uDC00\u{1F600}' }], count: 1, none: null };
    expect(JSON.parse(toCleanJson(value))).toEqual({
      plain: 'a\uFFFDb',
      list: ['\uFFFD', { 'key\uFFFD': '\uFFFD\u{1F600}' }],
      count: 1,
      none: null,
    });
    expect(toCleanText('\0')).toBe('\uFFFD');
  });

  test('is not mistaken for text that only looks like an escape', () => {
    const value = { path: 'C:\\u0000\\ud800', arguments: '{"text":"\\u0000"}' };
    expect(toCleanJson(value)).toBe(JSON.stringify(value));
  });
});
