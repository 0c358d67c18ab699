// parser.ts: the text of a patch → data. Line numbers in messages count from the first line of the patch.
import { PatchError, type Chunk, type ChunkLine, type Hunk, type Patch } from './patch.ts';

const beginMarker = '*** Begin Patch';
const endMarker = '*** End Patch';
const environmentPrefix = '*** Environment ID: ';
const addPrefix = '*** Add File: ';
const deletePrefix = '*** Delete File: ';
const updatePrefix = '*** Update File: ';
const movePrefix = '*** Move to: ';
const endOfFile = '*** End of File';
const anchorMarker = '@@';

/** Reads lines one by one and knows where it is. */
class LineReader {
  readonly #lines: readonly string[];
  #next: number;

  constructor(lines: readonly string[], start: number) {
    this.#lines = lines;
    this.#next = start;
  }

  /** Undefined after the last line. */
  peek(): string | undefined {
    return this.#lines[this.#next];
  }

  take(): string {
    const line = this.#lines[this.#next] ?? '';
    this.#next += 1;
    return line;
  }

  /** Of the line that comes next. */
  get number(): number {
    return this.#next + 1;
  }
}

/** Accepts space around the patch and a here-document around it. @throws PatchError */
export function parsePatch(text: string): Patch {
  const lines = withoutHereDocument(text.replaceAll('\r\n', '\n').trim().split('\n'));
  if (lines[0]?.trim() !== beginMarker)
    throw new PatchError(`invalid patch: the first line must be '${beginMarker}'`);
  if (lines.length < 2 || lines.at(-1)?.trim() !== endMarker) {
    throw new PatchError(`invalid patch: the last line must be '${endMarker}'`);
  }
  const reader = new LineReader(lines.slice(0, -1), 1);
  if (reader.peek()?.startsWith(environmentPrefix)) reader.take();
  const hunks: Hunk[] = [];
  while (reader.peek() !== undefined) {
    if (reader.peek()?.trim() === '') reader.take();
    else hunks.push(parseHunk(reader));
  }
  return { hunks };
}

function withoutHereDocument(lines: string[]): string[] {
  const opening = /^<<(?:'(\w+)'|"(\w+)"|(\w+))$/.exec(lines[0]?.trim() ?? '');
  const word = opening?.[1] ?? opening?.[2] ?? opening?.[3];
  if (word === undefined || lines.at(-1)?.trim() !== word) return lines;
  return lines.slice(1, -1);
}

function parseHunk(reader: LineReader): Hunk {
  const { number } = reader;
  const header = reader.take().trim();
  if (header.startsWith(addPrefix)) return parseAdd(reader, header.slice(addPrefix.length));
  if (header.startsWith(deletePrefix)) return { kind: 'delete', path: header.slice(deletePrefix.length) };
  if (header.startsWith(updatePrefix)) return parseUpdate(reader, header.slice(updatePrefix.length), number);
  throw new PatchError(
    `invalid hunk at line ${number}: '${header}' does not begin a file; ` +
      `write '${addPrefix}{path}', '${deletePrefix}{path}' or '${updatePrefix}{path}'`,
  );
}

function parseAdd(reader: LineReader, path: string): Hunk {
  const lines: string[] = [];
  while (reader.peek()?.startsWith('+')) lines.push(reader.take().slice(1));
  return { kind: 'add', path, lines };
}

function parseUpdate(reader: LineReader, path: string, number: number): Hunk {
  const moveTo = reader.peek()?.trim().startsWith(movePrefix)
    ? reader.take().trim().slice(movePrefix.length)
    : undefined;
  const chunks: Chunk[] = [];
  while (!isFileEnd(reader)) {
    if (reader.peek()?.trim() === '') reader.take();
    else chunks.push(parseChunk(reader, { isFirst: chunks.length === 0 }));
  }
  if (chunks.length === 0 && moveTo === undefined) {
    throw new PatchError(`invalid hunk at line ${number}: the update of '${path}' is empty`);
  }
  return { kind: 'update', path, chunks, ...(moveTo === undefined ? {} : { moveTo }) };
}

function isFileEnd(reader: LineReader): boolean {
  const line = reader.peek();
  return line === undefined || (line.startsWith('***') && line.trim() !== endOfFile);
}

function parseChunk(reader: LineReader, { isFirst }: { isFirst: boolean }): Chunk {
  const { number } = reader;
  const head = reader.peek() ?? '';
  const anchor = parseAnchor(head);
  if (anchor !== undefined) reader.take();
  else if (!isFirst) {
    throw new PatchError(
      `invalid hunk at line ${number}: a part must begin with '${anchorMarker}', found '${head}'`,
    );
  }
  const lines = parseChunkLines(reader);
  if (lines.length === 0) {
    const found = reader.peek();
    throw new PatchError(
      `invalid hunk at line ${reader.number}: ` +
        (found === undefined || found.startsWith('***') || found.startsWith(anchorMarker)
          ? 'a part has no lines'
          : `unexpected line '${found}'; lines of an update begin with ' ' (context), '+' (added) or '-' (removed)`),
    );
  }
  const atEnd = reader.peek()?.trim() === endOfFile;
  if (atEnd) reader.take();
  return { lines, atEnd, ...(anchor === undefined || anchor === '' ? {} : { anchor }) };
}

/** Undefined when the line is no marker, empty when it names no line. */
function parseAnchor(line: string): string | undefined {
  if (line.trimEnd() === anchorMarker) return '';
  return line.startsWith(`${anchorMarker} `) ? line.slice(anchorMarker.length + 1) : undefined;
}

const kinds = { ' ': 'context', '-': 'remove', '+': 'add' } as const;

function parseChunkLines(reader: LineReader): ChunkLine[] {
  const lines: ChunkLine[] = [];
  for (let line = reader.peek(); line !== undefined; line = reader.peek()) {
    const kind = line === '' ? 'context' : kinds[line.charAt(0) as keyof typeof kinds];
    if (kind === undefined) break;
    lines.push({ kind, text: line.slice(1) });
    reader.take();
  }
  return lines;
}
