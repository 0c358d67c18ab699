import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { boundText } from '@holdfast/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toPieces } from '../src/live-output.ts';
import { LiveText } from '../src/process-host/live-text.ts';
import { OutputWriter } from '../src/process-host/output-files.ts';
import { createOutputKeeper, readBounded } from '../src/stored-output.ts';
import { createFolder } from './folders.ts';
import { StrictCallLog } from './strict-call-log.ts';

const anyText = fc.string({ unit: 'grapheme', maxLength: 300 });

describe('live output', () => {
  test('is cut into pieces of bounded size that never split a character', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 4, max: 64 }), (text, limit) => {
        const pieces = toPieces(text, limit);
        expect(pieces.join('')).toBe(text);
        for (const piece of pieces) {
          expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(limit);
          expect(piece.isWellFormed()).toBe(true);
        }
      }),
    );
  });

  test('arrives whole and in whole characters, however the bytes were cut', () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.nat(900), { maxLength: 8 }), (text, cuts) => {
        const bytes = Buffer.from(text);
        const pieces: string[] = [];
        const live = new LiveText((piece) => pieces.push(piece));
        let start = 0;
        for (const cut of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
          live.append(bytes.subarray(start, Math.max(start, cut)));
          start = Math.max(start, cut);
        }
        live.end();
        expect(pieces.join('')).toBe(text);
        expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
      }),
    );
  });

  test('of which too much comes at once keeps its beginning and its end', () => {
    const pieces: string[] = [];
    const live = new LiveText((piece) => pieces.push(piece));
    live.append(Buffer.from('first '));
    live.append(Buffer.from(`<${'x'.repeat(200_000)}>`));
    live.end();
    expect(pieces).toEqual(['first ', expect.stringMatching(/^<x+\n… output skipped …\nx+>$/)]);
    expect(pieces[1]?.length).toBeLessThan(33_000);
  });
});

describe('an output on disk', () => {
  let folders = 0;

  function store(root: string, bytes: Buffer) {
    folders += 1;
    const folder = join(root, String(folders));
    mkdirSync(folder);
    const writer = new OutputWriter(folder);
    writer.append(bytes);
    writer.close();
    return { folder, start: 0, end: writer.bytes, lines: writer.lines };
  }

  test('is bounded as if it had been read as a whole', () => {
    const root = createFolder();
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 40 }), (text, tokens) => {
        expect(readBounded(store(root, Buffer.from(text)), { tokens })).toEqual(boundText(text, { tokens }));
      }),
      { numRuns: 60 },
    );
  });

  test('that is no text is bounded, too', () => {
    const bounded = readBounded(store(createFolder(), Buffer.alloc(1000, 0xff)), { tokens: 10 });
    expect([bounded.cut, bounded.originalTokens]).toEqual([true, 250]);
    expect(bounded.text).toContain('�…');
  });

  test('is kept as a blob byte by byte', async () => {
    const blobs = new StrictCallLog();
    const bytes = Buffer.from([0, 255, 10, 65]);
    const ref = await createOutputKeeper(blobs).keep(store(createFolder(), bytes));
    expect(ref).toEqual({ digest: expect.any(String), size: 4, mediaType: 'text/plain; charset=utf-8' });
    expect(Buffer.from(blobs.blobs.get(ref.digest) ?? [])).toEqual(bytes);
  });
});
