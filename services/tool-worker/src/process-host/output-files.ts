// output-files.ts: the output of a process on disk, in segments: the first one and the newest two are kept, so a command may print for
// ever and the beginning and the end are still there.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** Up to two segments, the output is complete on disk. */
export const segmentBytes = 32 * 1024 * 1024;

const newline = 10;
const countChunkBytes = 1024 * 1024;

/** Writes synchronously: what `append` returned from survives the death of this process. */
export class OutputWriter {
  readonly #folder: string;
  readonly #segmentBytes: number;
  #bytes = 0;
  #newlines = 0;
  #endsLine = true;
  #open: { segment: number; fd: number } | undefined;

  constructor(folder: string, limit = segmentBytes) {
    this.#folder = folder;
    this.#segmentBytes = limit;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A last line without a line break counts. */
  get lines(): number {
    return this.#newlines + (this.#endsLine ? 0 : 1);
  }

  append(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      const room = this.#segmentBytes - (this.#bytes % this.#segmentBytes);
      // A disk that is nearly full may take a part only.
      const written = writeSync(this.#segmentFor(this.#bytes), chunk.subarray(at, at + room));
      this.#bytes += written;
      at += written;
    }
    this.#newlines += countNewlines(chunk);
    if (chunk.length > 0) this.#endsLine = chunk.at(-1) === newline;
  }

  close(): void {
    if (this.#open) closeSync(this.#open.fd);
    this.#open = undefined;
  }

  #segmentFor(offset: number): number {
    const segment = Math.floor(offset / this.#segmentBytes);
    if (this.#open?.segment === segment) return this.#open.fd;
    this.close();
    if (segment > 2) rmSync(toSegmentPath(this.#folder, segment - 2), { force: true });
    if (segment === 0) mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#open = { segment, fd: openSync(toSegmentPath(this.#folder, segment), 'a', 0o600) };
    return this.#open.fd;
  }
}

/** The bytes from `start` to `end` that are still on disk; a missing segment is left out. */
export function readOutput(
  folder: string,
  range: { start: number; end: number },
  limit = segmentBytes,
): Buffer {
  const parts: Buffer[] = [];
  for (let at = range.start; at < range.end;) {
    const segment = Math.floor(at / limit);
    const end = Math.min(range.end, (segment + 1) * limit);
    parts.push(readSegment(toSegmentPath(folder, segment), at - segment * limit, end - at));
    at = end;
  }
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
}

/** The size of an output whose writer died; lines are counted in what is still on disk. */
export function measureOutput(folder: string, limit = segmentBytes): { bytes: number; lines: number } {
  const segments = listNames(folder).flatMap((name) => toSegment(name) ?? []);
  if (segments.length === 0) return { bytes: 0, lines: 0 };
  const last = Math.max(...segments);
  const bytes = last * limit + statSync(toSegmentPath(folder, last)).size;
  const counts = segments.map((segment) =>
    countNewlines(readSegment(toSegmentPath(folder, segment), 0, limit)),
  );
  const endsLine = readOutput(folder, { start: bytes - 1, end: bytes }, limit)[0] === newline;
  return { bytes, lines: counts.reduce((sum, count) => sum + count, 0) + (bytes > 0 && !endsLine ? 1 : 0) };
}

/** Lines in what is still on disk of this range; a last line without a line break counts. */
export function countLines(
  folder: string,
  range: { start: number; end: number },
  limit = segmentBytes,
): number {
  let lines = 0;
  let last = newline;
  for (let at = range.start; at < range.end; at += countChunkBytes) {
    const part = readOutput(folder, { start: at, end: Math.min(range.end, at + countChunkBytes) }, limit);
    lines += countNewlines(part);
    last = part.at(-1) ?? last;
  }
  return lines + (last === newline ? 0 : 1);
}

function countNewlines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) count += 1;
  return count;
}

function readSegment(path: string, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return Buffer.alloc(0);
  }
  try {
    let read = 0;
    for (let count = -1; read < length && count !== 0; read += count) {
      count = readSync(fd, bytes, read, length - read, position + read);
    }
    return bytes.subarray(0, read);
  } finally {
    closeSync(fd);
  }
}

/** A process that printed nothing has no folder. */
function listNames(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function toSegmentPath(folder: string, segment: number): string {
  return join(folder, `output.${segment}`);
}

function toSegment(name: string): number | undefined {
  const digits = /^output\.(\d+)$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
