// parser.ts: the text of a patch → data. Accepts and refuses exactly what Codex 0.169 does; see docs/design/tools.md.
// Line numbers in messages count from the line `*** Begin Patch`, which is 1.
import { PatchError, type Chunk, type ChunkLine, type Hunk, type Patch } from './patch.ts';
import { trim, trimEnd } from './white-space.ts';

const beginMarker = '*** Begin Patch';
const endMarker = '*** End Patch';
const environmentPrefix = '*** Environment ID:';
const addPrefix = '*** Add File: ';
const deletePrefix = '*** Delete File: ';
const updatePrefix = '*** Update File: ';
const movePrefix = '*** Move to: ';
const endOfFile = '*** End of File';
const anchorMarker = '@@';
const hereDocumentOpenings = new Set(['<<EOF', "<<'EOF'", '<<"EOF"']);

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
  const lines = trim(text)
    .split('\n')
    .map((line) => line.replace(/\r+$/, ''));
  const reader = new LineReader(toEnvelope(lines).slice(0, -1), 1);
  skipEnvironment(reader);
  const hunks: Hunk[] = [];
  for (let line = reader.peek(); line !== undefined; line = reader.peek()) {
    if (trim(line) === endMarker) assertNothingFollows(reader);
    else hunks.push(parseHunk(reader));
  }
  return { hunks };
}

/** The lines from the first marker to the last. */
function toEnvelope(lines: string[]): string[] {
  const inner = isHereDocument(lines) ? lines.slice(1, -1) : lines;
  if (trim(inner[0] ?? '') !== beginMarker) {
    throw new PatchError(`invalid patch: the first line must be '${beginMarker}'`);
  }
  if (inner.length < 2 || trim(inner.at(-1) ?? '') !== endMarker) {
    throw new PatchError(`invalid patch: the last line must be '${endMarker}'`);
  }
  return inner;
}

function isHereDocument(lines: readonly string[]): boolean {
  return (
    lines.length >= 4 && hereDocumentOpenings.has(lines[0] ?? '') && (lines.at(-1) ?? '').endsWith('EOF')
  );
}

/** The environment a patch is for says nothing here: a call already runs on its machine. */
function skipEnvironment(reader: LineReader): void {
  const line = trim(reader.peek() ?? '');
  if (!line.startsWith(environmentPrefix)) return;
  if (trim(line.slice(environmentPrefix.length)) === '') {
    throw new PatchError(
      `invalid patch: name the environment after '${environmentPrefix}' or leave the line out`,
    );
  }
  reader.take();
}

function assertNothingFollows(reader: LineReader): void {
  reader.take();
  for (let line = reader.peek(); line !== undefined; line = reader.peek()) {
    if (trim(line) !== '') throw new PatchError(`invalid patch: '${endMarker}' must be the last line`);
    reader.take();
  }
}

function parseHunk(reader: LineReader): Hunk {
  const { number } = reader;
  const header = trim(reader.take());
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
  const move = trimEnd(reader.peek() ?? '');
  const moveTo = move.startsWith(movePrefix) ? move.slice(movePrefix.length) : undefined;
  if (moveTo !== undefined) reader.take();
  const chunks: Chunk[] = [];
  for (let line = reader.peek(); line !== undefined && !isHeader(line); line = reader.peek()) {
    if (isLoose(line, chunks.at(-1))) reader.take();
    else chunks.push(parseChunk(reader, { isFirst: chunks.length === 0 }));
  }
  if (chunks.length === 0) {
    throw new PatchError(
      `invalid hunk at line ${number}: the update of '${path}' is empty; write the lines that change` +
        (moveTo === undefined ? '' : ', or one line of context to move the file as it is'),
    );
  }
  return { kind: 'update', path, chunks, ...(moveTo === undefined ? {} : { moveTo }) };
}

/** Space in front makes a line of an update context, whatever follows. */
function isHeader(line: string): boolean {
  return (
    trimEnd(line) === endMarker ||
    [addPrefix, deletePrefix, updatePrefix].some((prefix) => trimEnd(line).startsWith(prefix))
  );
}

/** Lines that mean nothing: empty ones after the end of the file, the end of the file before anything else. */
function isLoose(line: string, previous: Chunk | undefined): boolean {
  return previous ? previous.atEnd && trim(line) === '' : trimEnd(line) === endOfFile;
}

function parseChunk(reader: LineReader, { isFirst }: { isFirst: boolean }): Chunk {
  const { number } = reader;
  const head = reader.peek() ?? '';
  const anchor = parseAnchor(trimEnd(head));
  if (anchor !== undefined) reader.take();
  else if (!isFirst) {
    throw new PatchError(
      `invalid hunk at line ${number}: a part must begin with '${anchorMarker}', found '${head}'`,
    );
  }
  const lines = parseChunkLines(reader);
  if (lines.length === 0) throw toEmptyChunkError(reader);
  const atEnd = trimEnd(reader.peek() ?? '') === endOfFile;
  if (atEnd) reader.take();
  return { lines, atEnd, ...(anchor === undefined || anchor === '' ? {} : { anchor }) };
}

/** Undefined when the line is no marker, empty when it names no line. */
function parseAnchor(line: string): string | undefined {
  if (line === anchorMarker) return '';
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

function toEmptyChunkError(reader: LineReader): PatchError {
  const found = reader.peek();
  const isMarker = found === undefined || found.startsWith('***') || found.startsWith(anchorMarker);
  return new PatchError(
    `invalid hunk at line ${reader.number}: ` +
      (isMarker
        ? 'a part has no lines'
        : `unexpected line '${found}'; lines of an update begin with ' ' (context), '+' (added) or '-' (removed)`),
  );
}
