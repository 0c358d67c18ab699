import type { ToolSpec } from '@holdfast/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toCanonicalJson, toCatalog } from '../src/index.ts';

const toSpec = (name: string, parameters: Record<string, unknown> = {}): ToolSpec => ({
  name,
  description: '',
  placement: 'machine',
  effects: 'none',
  supportsParallel: false,
  form: { kind: 'function', parameters },
});

describe('a catalog', () => {
  test('of the same tools is the same, whatever their order and that of their keys', () => {
    const one = toCatalog([toSpec('b', { x: 1, y: { p: [2, 1], q: null } }), toSpec('a')]);
    const two = toCatalog([toSpec('a'), toSpec('b', { y: { q: null, p: [2, 1] }, x: 1 })]);
    expect(one.digest).toBe(two.digest);
    expect(one.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(one.tools.map((tool) => tool.name)).toEqual(['a', 'b']);
  });

  test('of other tools is another', () => {
    const digests = [
      [],
      [toSpec('a')],
      [toSpec('b')],
      [toSpec('a', { x: [1, 2] })],
      [toSpec('a', { x: [2, 1] })],
    ].map((tools) => toCatalog(tools).digest);
    expect(new Set(digests).size).toBe(digests.length);
  });

  test('is written in a form that does not change its meaning', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(toCanonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
