import type { Item } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { createPromptCache } from '../src/domain/prompt-cache.ts';

const output = (text: string): Item => ({ type: 'function_call_output', call_id: 'c', output: text });
const opened = (seq: number, text: string, reset = true) => ({
  epoch: 1,
  reset,
  items: [{ seq, item: output(text) }],
});

describe('the prompt cache', () => {
  test('joins what it has with what is new, and leaves the prompt of an older attempt as it was', () => {
    const cache = createPromptCache();
    const base = cache.extend('s', undefined, opened(1, 'one'));
    const grown = cache.extend('s', base, opened(2, 'two', false));
    expect(grown).toMatchObject({ epoch: 1, seq: 2, items: [output('one'), output('two')] });
    expect(base).toMatchObject({ seq: 1, items: [output('one')] });
    expect(cache.find('s')).toBe(grown);
  });

  test('starts anew when the store resets it', () => {
    const cache = createPromptCache();
    const base = cache.extend('s', undefined, opened(1, 'one'));
    expect(cache.extend('s', base, { ...opened(1, 'other'), epoch: 2 })).toMatchObject({
      epoch: 2,
      seq: 1,
      items: [output('other')],
    });
  });

  test('forgets the sessions that were used longest ago when it has too many', () => {
    const cache = createPromptCache({ maxBytes: 1_000_000, maxSessions: 2 });
    const oldest = cache.extend('a', undefined, opened(1, 'a'));
    cache.extend('b', undefined, opened(1, 'b'));
    cache.extend('a', oldest, { epoch: 1, reset: false, items: [] });
    cache.extend('c', undefined, opened(1, 'c'));
    expect(['a', 'b', 'c'].map((id) => cache.find(id)?.seq)).toEqual([1, undefined, 1]);
  });

  test('stays below its size, and never gives all it has for one prompt that is too large', () => {
    const cache = createPromptCache({ maxBytes: 10_000, maxSessions: 10 });
    cache.extend('a', undefined, opened(1, 'x'.repeat(2_000)));
    cache.extend('b', undefined, opened(1, 'x'.repeat(2_000)));
    cache.extend('huge', undefined, opened(1, 'x'.repeat(20_000)));
    expect(['a', 'b', 'huge'].map((id) => cache.find(id)?.seq)).toEqual([1, 1, undefined]);
    cache.extend('c', undefined, opened(1, 'x'.repeat(2_000)));
    expect(['a', 'b', 'c'].map((id) => cache.find(id)?.seq)).toEqual([undefined, 1, 1]);
  });
});
