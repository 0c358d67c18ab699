import { array, assert, integer, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LineBuffer } from '../src/line-buffer.ts';

describe('cutting bytes into lines', () => {
  test('gives the same lines however the bytes are split', () => {
    const line = string({ unit: 'binary', maxLength: 20 }).map((text) => text.replaceAll(/[\r\n]/g, ' '));
    assert(
      property(array(line), array(integer({ min: 1, max: 9 })), (lines, sizes) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const buffer = new LineBuffer({ limitBytes: 1_000 });
        const seen: string[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = sizes[turn % Math.max(sizes.length, 1)] ?? 5;
          seen.push(...buffer.push(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(seen).toEqual(lines);
      }),
    );
  });

  test('refuses a line that is too long', () => {
    const buffer = new LineBuffer({ limitBytes: 4 });
    expect(buffer.push(Buffer.from('ab\r\ncd'))).toEqual(['ab']);
    expect(() => buffer.push(Buffer.from('efg'))).toThrow('a line is longer than 4 bytes');
  });
});
