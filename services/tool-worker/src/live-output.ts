import type { Delta } from '@holdfast/protocol';

/** One delta carries at most this much UTF-8. */
const deltaLimitBytes = 8 * 1024;

export type DeltaPublisher = (delta: Delta) => void;

/** Cuts text into pieces of at most this size, never inside a character. The limit is at least that of a character, 4 bytes. */
export function toPieces(text: string, limitBytes = deltaLimitBytes): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const piece = text.slice(at, toPieceEnd(text, at, limitBytes));
    pieces.push(piece);
    at += piece.length;
  }
  return pieces;
}

function toPieceEnd(text: string, at: number, limitBytes: number): number {
  let end = Math.min(text.length, at + limitBytes);
  for (;;) {
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    const excess = Buffer.byteLength(text.slice(at, end)) - limitBytes;
    if (excess <= 0) return end;
    // A unit of the string has at most three bytes.
    end -= Math.ceil(excess / 3);
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd8_00 && code <= 0xdb_ff;
}
