// page.ts: numbered lines up to a number of lines and a size.
import type { PageSize } from '../../page-size.ts';

/** A line of a file; `number` counts from 1. */
export type NumberedLine = { number: number; text: string };

export type Page = {
  /** @returns false when the page is full: the line is not on it, and no later one will be */
  add(line: NumberedLine): boolean;
  lines(): readonly NumberedLine[];
};

export function createPage(size: PageSize): Page {
  const lines: NumberedLine[] = [];
  const state = { bytes: 0, full: false };
  return {
    add: (line) => {
      const bytes = Buffer.byteLength(toText(line)) + 1;
      state.full ||= lines.length >= size.lines || (lines.length > 0 && state.bytes + bytes > size.bytes);
      if (state.full) return false;
      state.bytes += bytes;
      lines.push(line);
      return true;
    },
    lines: () => lines,
  };
}

export function toText({ number, text }: NumberedLine): string {
  return `L${number}: ${text}`;
}
