// file-type.ts: what kind of text, if any, the first bytes of a file show.

export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'latin1';

const signatures: readonly (readonly [name: string, bytes: Buffer, at?: number])[] = [
  ['PNG image', Buffer.from('\u0089PNG', 'latin1')],
  ['JPEG image', Buffer.from([0xff, 0xd8, 0xff])],
  ['GIF image', Buffer.from('GIF8')],
  ['WebP image', Buffer.from('WEBP'), 8],
  ['PDF document', Buffer.from('%PDF-')],
  ['ZIP archive', Buffer.from('PK\u0003\u0004', 'latin1')],
  ['gzip archive', Buffer.from([0x1f, 0x8b])],
  ['ELF program', Buffer.from('\u007fELF', 'latin1')],
  ['SQLite database', Buffer.from('SQLite format 3\0', 'latin1')],
  ['WebAssembly module', Buffer.from('\0asm', 'latin1')],
];

/** From the first bytes, as many as there are up to some thousand; undefined for what is not known. */
export function toTypeName(start: Buffer): string | undefined {
  return signatures.find(([, bytes, at = 0]) => start.subarray(at, at + bytes.length).equals(bytes))?.[0];
}

/** A byte order mark decides, then the places of zero bytes; undefined for binary content. Latin-1 is not told from UTF-8 here. */
export function toEncoding(start: Buffer): Exclude<TextEncoding, 'latin1'> | undefined {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be';
  if (toTypeName(start)) return undefined;
  if (!start.includes(0)) return 'utf-8';
  return toUtf16(start);
}

/** Text without a mark in UTF-16 has a zero byte in most of its characters, always on the same side. */
function toUtf16(start: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const zeros = [0, 0];
  for (const [index, byte] of start.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const most = start.length / 4;
  if (odd > most && even === 0) return 'utf-16le';
  return even > most && odd === 0 ? 'utf-16be' : undefined;
}
