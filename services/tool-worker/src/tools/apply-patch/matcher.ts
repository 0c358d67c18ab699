// matcher.ts: finds the places of the chunks and makes the new lines. The lines of the file win over those of the patch: context stays
// as the file has it, also where it was only found by being lenient.
import { toLineEnd, toLines, toText, type FileLine } from './file-text.ts';
import { createLineSearch, type LineSearch } from './line-search.ts';
import { PatchError, type Chunk, type ChunkLine } from './patch.ts';

/** Lines of the file that give way to others. */
type Replacement = { start: number; length: number; added: string[] };

/** Applies the chunks in the order of the file. @throws PatchError when one does not fit */
export function applyChunks(text: string, chunks: readonly Chunk[], path: string): string {
  const lines = toLines(text);
  const lineEnd = toLineEnd(lines);
  const replacements = toReplacements(
    lines.map((line) => line.text),
    chunks,
    path,
  );
  const parts: FileLine[][] = [];
  let copied = 0;
  for (const { start, length, added } of replacements) {
    parts.push(
      lines.slice(copied, start),
      added.map((line) => ({ text: line, end: lineEnd })),
    );
    copied = start + length;
  }
  return toText([...parts, lines.slice(copied)].flat(), lineEnd);
}

/** In the order of the file; at one place in the order of the patch. */
function toReplacements(texts: readonly string[], chunks: readonly Chunk[], path: string): Replacement[] {
  const search = createLineSearch(texts);
  const replacements: Replacement[] = [];
  let position = 0;
  for (const chunk of chunks) {
    if (chunk.anchor !== undefined) position = findAnchor(search, { chunk, position, path }) + 1;
    if (chunk.lines.every((line) => line.kind === 'add')) {
      replacements.push(...toRuns(chunk.lines, texts.length));
      continue;
    }
    const { start, lines } = findPlace(search, { chunk, position, path });
    replacements.push(...toRuns(lines, start));
    position = start + toOld(lines).length;
  }
  return replacements.toSorted((left, right) => left.start - right.start);
}

type Wanted = { chunk: Chunk; position: number; path: string };

function findAnchor(search: LineSearch, { chunk: { anchor = '' }, position, path }: Wanted): number {
  const found = search([anchor], { from: position, atEnd: false });
  if (found === undefined) throw new PatchError(`Failed to find context '${anchor}' in ${path}`);
  return found;
}

function findPlace(
  search: LineSearch,
  { chunk, position, path }: Wanted,
): { start: number; lines: readonly ChunkLine[] } {
  for (const lines of [chunk.lines, withoutLastEmpty(chunk.lines)]) {
    if (!lines) break;
    const start = search(toOld(lines), { from: position, atEnd: chunk.atEnd });
    if (start !== undefined) return { start, lines };
  }
  throw new PatchError(`Failed to find expected lines in ${path}:\n${toOld(chunk.lines).join('\n')}`);
}

function toOld(lines: readonly ChunkLine[]): string[] {
  return lines.filter((line) => line.kind !== 'add').map((line) => line.text);
}

/**
 * Models end a chunk with an empty line that the file does not have: the last of the old lines goes when it is empty, and with it
 * the last of the new ones when that is empty, too. Undefined when there is nothing to leave out.
 */
function withoutLastEmpty(lines: readonly ChunkLine[]): readonly ChunkLine[] | undefined {
  const lastOld = lines.findLastIndex((line) => line.kind !== 'add');
  if (lines[lastOld]?.text !== '') return undefined;
  const rest = leaveOut(lines, lastOld, 'remove');
  const lastNew = rest.findLastIndex((line) => line.kind !== 'remove');
  return rest[lastNew]?.text === '' ? leaveOut(rest, lastNew, 'add') : rest;
}

/** Takes a line from one side; context stays on the other. */
function leaveOut(lines: readonly ChunkLine[], at: number, side: 'remove' | 'add'): readonly ChunkLine[] {
  const other = side === 'remove' ? 'add' : 'remove';
  return lines[at]?.kind === side ? lines.toSpliced(at, 1) : lines.with(at, { kind: other, text: '' });
}

/** Lines between context become one replacement. */
function toRuns(lines: readonly ChunkLine[], start: number): Replacement[] {
  const runs: Replacement[] = [];
  let at = start;
  let run: Replacement | undefined;
  for (const { kind, text } of lines) {
    if (kind === 'context') {
      at += 1;
      run = undefined;
      continue;
    }
    if (!run) runs.push((run = { start: at, length: 0, added: [] }));
    if (kind === 'add') run.added.push(text);
    else run.length += 1;
    at = run.start + run.length;
  }
  return runs;
}
