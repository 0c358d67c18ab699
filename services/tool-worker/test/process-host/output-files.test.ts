import { mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { measureOutput, OutputWriter, readOutput } from '../../src/process-host/output-files.ts';
import { createFolder } from '../folders.ts';

describe('output files', () => {
  test('give back what was written, in any chunks, while at most two segments are full', () => {
    const folder = createFolder();
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 10 }),
        fc.nat(),
        fc.nat(),
        (chunks, one, two) => {
          const whole = Buffer.concat(chunks);
          const limit = Math.max(1, Math.ceil(whole.length / 2));
          const own = mkdtempSync(join(folder, 'run-'));
          const writer = new OutputWriter(own, limit);
          for (const chunk of chunks) writer.append(chunk);
          writer.close();
          const [start = 0, end = 0] = [one % (whole.length + 1), two % (whole.length + 1)].toSorted(
            (a, b) => a - b,
          );
          expect(readOutput(own, { start, end }, limit)).toEqual(whole.subarray(start, end));
          expect(measureOutput(own, limit)).toEqual({ bytes: writer.bytes, lines: writer.lines });
          expect(writer.bytes).toBe(whole.length);
        },
      ),
      { numRuns: 50 },
    );
  });

  test('keep the first segment and the newest two of an output that never ends', () => {
    const folder = createFolder();
    const writer = new OutputWriter(folder, 10);
    for (let index = 0; index < 25; index += 1)
      writer.append(Buffer.from(`${String(index).padStart(3, '0')}\n`));
    writer.close();
    expect(readdirSync(folder).toSorted()).toEqual(['output.0', 'output.8', 'output.9']);
    expect(readOutput(folder, { start: 0, end: 10 }, 10).toString()).toBe('000\n001\n00');
    expect(readOutput(folder, { start: 90, end: 100 }, 10).toString()).toBe('2\n023\n024\n');
    expect([writer.bytes, writer.lines]).toEqual([100, 25]);
  });

  test('count a last line without a line break', () => {
    const writer = new OutputWriter(createFolder());
    writer.append(Buffer.from('one\ntw'));
    expect(writer.lines).toBe(2);
    writer.append(Buffer.from('o\n'));
    expect(writer.lines).toBe(2);
    writer.close();
  });

  test('have no size when nothing was written', () => {
    expect(measureOutput(createFolder())).toEqual({ bytes: 0, lines: 0 });
  });
});
