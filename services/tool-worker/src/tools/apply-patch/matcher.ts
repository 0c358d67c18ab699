import { toLineEnd, toLines, toText, type FileLine } from './file-text.ts';
// matcher.ts: finds the place of a chunk and makes the new lines. The lines of the file win over those of the patch: context stays as the
// file has it, also where it was only found by being lenient.
import { PatchError, type Chunk } from './patch.ts';

type Normal = (line: string) => string;

const dashes = /[\u2010-\u2015\u2212]/g;
const singleQuotes = /[\u2018-\u201B]/g;
const doubleQuotes = /[\u201C-\u201F]/g;
const spaces = /[\u00A0\u2002-\u200A\u202F\u205F\u3000]/g;

/** From strict to lenient; the first that finds a place decides. */
const passes: readonly Normal[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) =>
    line
      .trim()
      .replaceAll(dashes, '-')
      .replaceAll(singleQuotes, "'")
      .replaceAll(doubleQuotes, '"')
      .replaceAll(spaces, ' '),
];

/** Applies the chunks in the order of the file. @throws PatchError when one does not fit */
export function applyChunks(text: string, chunks: readonly Chunk[], path: string): string {
  const lines = toLines(text);
  const lineEnd = toLineEnd(lines);
  const texts = lines.map((line) => line.text);
  const result: FileLine[] = [];
  const appended: FileLine[] = [];
  let copied = 0;
  let position = 0;
  for (const chunk of chunks) {
    if (chunk.anchor !== undefined) position = findAnchor(texts, chunk.anchor, position, path) + 1;
    if (chunk.lines.every((line) => line.kind === 'add')) {
      appended.push(...chunk.lines.map((line) => ({ text: line.text, end: lineEnd })));
      continue;
    }
    const place = findPlace(texts, chunk, position, path);
    result.push(...lines.slice(copied, place.start), ...replace(lines, place, lineEnd));
    copied = place.start + place.length;
    position = copied;
  }
  return toText([...result, ...lines.slice(copied), ...appended], lineEnd);
}

type Place = { start: number; length: number; lines: Chunk['lines'] };

function findAnchor(texts: readonly string[], anchor: string, from: number, path: string): number {
  const found = seek(texts, [anchor], { from, atEnd: false });
  if (found === undefined) throw new PatchError(`Failed to find context '${anchor}' in ${path}`);
  return found;
}

function findPlace(texts: readonly string[], chunk: Chunk, from: number, path: string): Place {
  for (const lines of [chunk.lines, withoutLastEmpty(chunk.lines)]) {
    const old = toOld(lines);
    const start = old.length === 0 ? undefined : seek(texts, old, { from, atEnd: chunk.atEnd });
    if (start !== undefined) return { start, length: old.length, lines };
  }
  throw new PatchError(`Failed to find expected lines in ${path}:\n${toOld(chunk.lines).join('\n')}`);
}

function toOld(lines: Chunk['lines']): string[] {
  return lines.filter((line) => line.kind !== 'add').map((line) => line.text);
}

/** Models end a chunk with an empty line that the file does not have. */
function withoutLastEmpty(lines: Chunk['lines']): Chunk['lines'] {
  const lastOld = lines.findLastIndex((line) => line.kind !== 'add');
  if (lines[lastOld]?.text !== '') return lines;
  const rest = lines.toSpliced(lastOld, 1);
  const wasRemoved = lines[lastOld].kind === 'remove';
  const lastNew = rest.findLastIndex((line) => line.kind !== 'remove');
  return wasRemoved && rest[lastNew]?.kind === 'add' && rest[lastNew].text === ''
    ? rest.toSpliced(lastNew, 1)
    : rest;
}

/** The first index where the pattern stands, or undefined. At the end of the file there is only one place to look. */
function seek(
  texts: readonly string[],
  pattern: readonly string[],
  { from, atEnd }: { from: number; atEnd: boolean },
): number | undefined {
  const last = texts.length - pattern.length;
  const first = atEnd ? Math.max(from, last) : from;
  for (const normal of passes) {
    const wanted = pattern.map(normal);
    for (let start = first; start <= last; start += 1) {
      if (wanted.every((line, offset) => normal(texts[start + offset] ?? '') === line)) return start;
    }
  }
  return undefined;
}

function replace(lines: readonly FileLine[], place: Place, lineEnd: string): FileLine[] {
  let at = place.start;
  return place.lines.flatMap((line) => {
    if (line.kind === 'add') return [{ text: line.text, end: lineEnd }];
    const kept = lines[at];
    at += 1;
    return line.kind === 'context' && kept ? [kept] : [];
  });
}
