import { describe, expect, test } from 'vitest';
import { createProgressLog } from '../src/progress-log.ts';
import type { ProgressNote } from '../src/tool-caller.ts';

const toNotes = (count: number): ProgressNote[] =>
  Array.from({ length: count }, (_, index) => ({ progress: index + 1 }));

describe('a progress log', () => {
  test('appends one note at a time, in order, and is flushed when all are written', async () => {
    const seen: string[] = [];
    const log = createProgressLog({
      append: async ({ progress }) => {
        seen.push(`start ${progress}`);
        await Promise.resolve();
        seen.push(`end ${progress}`);
      },
      onError: (error) => seen.push(String(error)),
    });
    for (const note of toNotes(2)) log.push(note);
    await log.flushed();
    expect(seen).toEqual(['start 1', 'end 1', 'start 2', 'end 2']);
    log.push({ progress: 3 });
    await log.flushed();
    expect(seen.slice(4)).toEqual(['start 3', 'end 3']);
  });

  test('goes on after a note that could not be appended', async () => {
    const seen: unknown[] = [];
    const log = createProgressLog({
      append: ({ progress }) =>
        progress === 1 ? Promise.reject(new Error('away')) : Promise.resolve(void seen.push(progress)),
      onError: (error) => seen.push((error as Error).message),
    });
    for (const note of toNotes(2)) log.push(note);
    await log.flushed();
    expect(seen).toEqual(['away', 2]);
  });

  test('thins out a flood and keeps the newest note', async () => {
    const seen: number[] = [];
    const log = createProgressLog({
      append: ({ progress }) => Promise.resolve(void seen.push(progress)),
      onError: () => undefined,
    });
    for (const note of toNotes(1_000)) log.push(note);
    await log.flushed();
    expect([seen.length, seen.at(0), seen.at(-1)]).toEqual([65, 1, 1_000]);
  });
});
