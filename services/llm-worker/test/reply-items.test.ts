import type { ResponseOutputItem } from 'openai/resources/responses/responses';
import { expect, test } from 'vitest';
import { toReplyItem } from '../src/adapters/reply-items.ts';

test('a search of the provider is kept as it came, because the reasoning before it refers to it', () => {
  const search = {
    type: 'web_search_call',
    id: 'ws_1',
    status: 'completed',
    action: { type: 'search', query: 'tides' },
  };
  expect(toReplyItem(search as ResponseOutputItem)).toEqual(search);
});

test('an item of a tool that was never offered is left out', () => {
  expect(toReplyItem({ type: 'image_generation_call' } as ResponseOutputItem)).toBeUndefined();
});
