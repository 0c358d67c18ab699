import { expect, test } from 'vitest';
import { createProgressWriter } from '../src/view/progress-writer.ts';

function createOutput(columns = 20) {
  const written: string[] = [];
  return { written, isTTY: true, columns, write: (text: string) => void written.push(text) };
}

test('the live line is below the lines that stay, and is not drawn again when it says the same', () => {
  const output = createOutput();
  const progress = createProgressWriter(output, { live: true });
  progress.show('thinking');
  progress.show('thinking');
  progress.print(['one', 'two']);
  progress.print([]);
  progress.show('next');
  progress.show('other');
  progress.clear();
  progress.clear();
  const erase = '\r\u001B[K';
  expect(output.written).toEqual(['thinking', erase, 'one\ntwo\n', 'next', erase, 'other', erase]);
});

test('a live line never wraps, because a wrapped line could not be erased', () => {
  const output = createOutput(10);
  createProgressWriter(output, { live: true }).show('0123456789abc');
  expect(output.written).toEqual(['01234567…']);
});

test('there is no live line where lines cannot be overwritten', () => {
  const output = createOutput();
  const progress = createProgressWriter(output, { live: false });
  progress.show('thinking');
  progress.print(['one']);
  progress.clear();
  expect(output.written).toEqual(['one\n']);
});
