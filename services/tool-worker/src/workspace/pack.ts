// pack.ts: many objects in one file, in git's own format: the first look at a workspace would otherwise make as many files again.
// P1  The index comes last: a pack without one does not exist, and is a draft that the next process removes.
import { createHash, type Hash } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  openSync,
  readSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import type { ObjectId, ObjectKind } from './object-store.ts';

const packVersion = 2;
const headerBytes = 12;
const idBytes = 32;
const fanoutBytes = 256 * 4;
const indexHeader = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]);
const typeCodes: Record<ObjectKind, number> = { tree: 2, blob: 3 };
const bufferBytes = 1024 * 1024;
/** Beyond it git's index has a second table of offsets. */
const largestPack = 0x7fff_ffff - 64 * 1024 * 1024;

/** So many are not read again in a moment, so they are worth waiting for the disk. */
const syncedObjects = 1_000;
/** The range of zlib's `chunkSize`; the default for every small content would leave much to be collected. */
const chunkBytes = { least: 64, most: 65_536 };
/** A small content needs no large window. */
const smallBytes = 32_768;

/** Fast rather than small: reading comes once in a while, writing all the time. */
export function compress(bytes: Uint8Array): Buffer {
  const chunkSize = Math.min(Math.max(bytes.length, chunkBytes.least), chunkBytes.most);
  const window = bytes.length <= smallBytes ? { windowBits: 13, memLevel: 5 } : {};
  return deflateSync(bytes, { level: 1, chunkSize, ...window });
}

type Packed = { id: ObjectId; offset: number; crc: number };

export class PackWriter {
  readonly #folder: string;
  readonly #draft: string;
  readonly #fd: number;
  readonly #packed: Packed[] = [];
  #chunks: Buffer[] = [];
  #buffered = 0;
  #size = headerBytes;

  /** `folder` gets the pack, `drafts` holds it until then; both must exist. */
  constructor({ folder, drafts }: { folder: string; drafts: string }) {
    this.#folder = folder;
    this.#draft = join(drafts, 'pack');
    this.#fd = openSync(this.#draft, 'w+', 0o600);
    this.#append(Buffer.alloc(headerBytes));
  }

  get isFull(): boolean {
    return this.#size > largestPack;
  }

  /** The same object must not be added twice. */
  add(id: ObjectId, kind: ObjectKind, content: Uint8Array): void {
    const entry = Buffer.concat([toEntryHeader(kind, content.length), compress(content)]);
    this.#packed.push({ id, offset: this.#size, crc: crc32(entry) });
    this.#size += entry.length;
    this.#append(entry);
  }

  /** The draft stays behind for the next one, or the next process, to overwrite. */
  discard(): void {
    closeSync(this.#fd);
  }

  /** @returns the path of the index; undefined when nothing was added */
  finish(): string | undefined {
    if (this.#packed.length === 0) {
      this.discard();
      return undefined;
    }
    this.#flush();
    const header = Buffer.alloc(headerBytes);
    header.write('PACK', 'latin1');
    header.writeUInt32BE(packVersion, 4);
    header.writeUInt32BE(this.#packed.length, 8);
    writeSync(this.#fd, header, 0, headerBytes, 0);
    const checksum = this.#hash().digest();
    writeSync(this.#fd, checksum, 0, checksum.length, this.#size);
    const flush = this.#packed.length >= syncedObjects;
    if (flush) fsyncSync(this.#fd);
    closeSync(this.#fd);
    const name = join(this.#folder, `pack-${checksum.toString('hex')}`);
    writeFileSync(`${this.#draft}.idx`, toIndex(this.#packed, checksum), { mode: 0o400, flush });
    renameSync(this.#draft, `${name}.pack`);
    renameSync(`${this.#draft}.idx`, `${name}.idx`); // P1
    return `${name}.idx`;
  }

  #append(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#buffered += bytes.length;
    if (this.#buffered >= bufferBytes) this.#flush();
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#chunks);
    for (let at = 0; at < bytes.length;) at += writeSync(this.#fd, bytes, at);
    this.#chunks = [];
    this.#buffered = 0;
  }

  #hash(): Hash {
    const hash = createHash('sha256');
    const chunk = Buffer.alloc(bufferBytes);
    for (let at = 0; at < this.#size;) {
      const read = readSync(this.#fd, chunk, 0, chunk.length, at);
      hash.update(chunk.subarray(0, read));
      at += read;
    }
    return hash;
  }
}

/** Type in three bits, length in four and then seven a byte. */
function toEntryHeader(kind: ObjectKind, length: number): Buffer {
  const bytes = [(typeCodes[kind] << 4) | (length & 0x0f)];
  for (let rest = Math.floor(length / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push((bytes.pop() ?? 0) | 0x80, rest & 0x7f);
  }
  return Buffer.from(bytes);
}

function toIndex(packed: readonly Packed[], packChecksum: Buffer): Buffer {
  const sorted = packed.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const fanout = Buffer.alloc(fanoutBytes);
  let count = 0;
  for (let first = 0; first < 256; first += 1) {
    while (count < sorted.length && Number.parseInt(sorted[count]?.id.slice(0, 2) ?? '', 16) <= first)
      count += 1;
    fanout.writeUInt32BE(count, first * 4);
  }
  const ids = Buffer.from(sorted.map(({ id }) => id).join(''), 'hex');
  const numbers = [sorted.map(({ crc }) => crc), sorted.map(({ offset }) => offset)].map((values) => {
    const table = Buffer.alloc(values.length * 4);
    for (const [at, value] of values.entries()) table.writeUInt32BE(value, at * 4);
    return table;
  });
  const body = Buffer.concat([indexHeader, fanout, ids, ...numbers, packChecksum]);
  return Buffer.concat([body, createHash('sha256').update(body).digest()]);
}

/** A finished pack. The file is opened for each read: reading comes once in a while. */
export class Pack {
  readonly #file: string;
  readonly #places = new Map<ObjectId, { offset: number; end: number }>();

  /** @throws Error when the index cannot be read */
  constructor(indexFile: string) {
    this.#file = indexFile.replace(/\.idx$/, '.pack');
    const index = readFileSync(indexFile);
    const count = index.readUInt32BE(indexHeader.length + fanoutBytes - 4);
    const ids = indexHeader.length + fanoutBytes;
    const offsets = ids + count * (idBytes + 4);
    const packed = Array.from({ length: count }, (_, at) => ({
      id: index.toString('hex', ids + at * idBytes, ids + (at + 1) * idBytes),
      offset: index.readUInt32BE(offsets + at * 4),
    })).toSorted((one, other) => one.offset - other.offset);
    for (const [at, { id, offset }] of packed.entries()) {
      this.#places.set(id, { offset, end: packed[at + 1]?.offset ?? Number.POSITIVE_INFINITY });
    }
  }

  has(id: ObjectId): boolean {
    return this.#places.has(id);
  }

  /** @returns the content, undefined when it is not in this pack @throws Error when the pack is damaged */
  read(id: ObjectId): Buffer | undefined {
    const place = this.#places.get(id);
    if (!place) return undefined;
    const fd = openSync(this.#file, 'r');
    try {
      const bytes = readRange(fd, place);
      let start = 0;
      while (((bytes[start] ?? 0) & 0x80) !== 0) start += 1;
      return inflateSync(bytes.subarray(start + 1));
    } finally {
      closeSync(fd);
    }
  }
}

function readRange(fd: number, { offset, end }: { offset: number; end: number }): Buffer {
  const chunks: Buffer[] = [];
  for (let at = offset; at < end;) {
    const chunk = Buffer.alloc(Math.min(end - at, bufferBytes));
    const read = readSync(fd, chunk, 0, chunk.length, at);
    if (read === 0) break;
    chunks.push(chunk.subarray(0, read));
    at += read;
  }
  return Buffer.concat(chunks);
}
