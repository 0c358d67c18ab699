// line-search.ts: finds lines of a patch in a file, from strict to lenient; the first pass that finds a place decides.
import { trim, trimEnd } from './white-space.ts';

type Normal = (line: string) => string;

const dashes = /[\u2010-\u2015\u2212]/g;
const singleQuotes = /[\u2018-\u201B]/g;
const doubleQuotes = /[\u201C-\u201F]/g;
const spaces = /[\u00A0\u2002-\u200A\u202F\u205F\u3000]/g;

const passes: readonly Normal[] = [(line) => line, trimEnd, trim, (line) => toPlain(trim(line))];

const ascii = /^[ -~\t]*$/;

function toPlain(line: string): string {
  if (ascii.test(line)) return line;
  return line
    .replaceAll(dashes, '-')
    .replaceAll(singleQuotes, "'")
    .replaceAll(doubleQuotes, '"')
    .replaceAll(spaces, ' ');
}

/**
 * The first index at or after `from` where the pattern stands, or undefined; an empty pattern stands at `from`.
 * `atEnd` leaves only the last place of the file that is long enough.
 */
export type LineSearch = (
  pattern: readonly string[],
  where: { from: number; atEnd: boolean },
) => number | undefined;

/** The file is brought to the form of a pass once, however many parts are searched. */
export function createLineSearch(lines: readonly string[]): LineSearch {
  const forms: string[][] = [];
  const toForm = (pass: number, normal: Normal) => (forms[pass] ??= lines.map(normal));
  return (pattern, { from, atEnd }) => {
    if (pattern.length === 0) return from;
    const last = lines.length - pattern.length;
    const first = atEnd ? Math.max(from, last) : from;
    for (const [pass, normal] of passes.entries()) {
      if (first > last) return undefined;
      const form = toForm(pass, normal);
      const wanted = pattern.map(normal);
      for (let start = first; start <= last; start += 1) {
        if (form[start] === wanted[0] && wanted.every((line, at) => form[start + at] === line)) return start;
      }
    }
    return undefined;
  };
}
