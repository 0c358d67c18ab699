import type { Item } from '@holdfast/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toNewItems } from '../src/domain/new-calls.ts';

const call = (callId: string): Item => ({
  type: 'function_call',
  call_id: callId,
  name: 't',
  arguments: '{}',
});
const specs = new Map();
const toIds = (items: readonly Item[]) => items.flatMap((item) => ('call_id' in item ? [item.call_id] : []));

describe('call ids', () => {
  test('that are missing or too long for a number stay usable', () => {
    const long = 'x'.repeat(64);
    const { items } = toNewItems([call(''), call(''), call(long), call(long)], { prompt: [], specs });
    expect(toIds(items)).toEqual(['call', 'call-2', long, `${'x'.repeat(62)}-2`]);
  });

  test('are unique in the session, the same for item and call, and the same each time', () => {
    const ids = fc.array(fc.constantFrom('a', 'a-2', 'a-3', 'b', ''), { maxLength: 8 });
    fc.assert(
      fc.property(ids, ids, (before, asked) => {
        const prompt = toNewItems(before.map(call), { prompt: [], specs }).items;
        const made = toNewItems(asked.map(call), { prompt, specs });
        const all = toIds([...prompt, ...made.items]);
        expect(new Set(all).size).toBe(all.length);
        expect(made.calls.map(({ modelCallId }) => modelCallId)).toEqual(toIds(made.items));
        expect(toNewItems(asked.map(call), { prompt, specs })).toEqual(made);
      }),
    );
  });
});
