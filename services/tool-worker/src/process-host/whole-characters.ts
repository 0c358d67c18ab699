/** How many of these bytes are left when a character of UTF-8 that is not whole is taken from their end; at most three are taken. */
export function toWholeCharacters(bytes: Uint8Array): number {
  const earliest = Math.max(0, bytes.length - 3);
  for (let at = bytes.length - 1; at >= earliest; at -= 1) {
    const byte = bytes[at] ?? 0;
    if ((byte & 0xc0) !== 0x80) return at + toLength(byte) > bytes.length ? at : bytes.length;
  }
  return bytes.length;
}

/** Of the character that begins with this byte; a byte that begins none counts for itself. */
function toLength(byte: number): number {
  if (byte >= 0xf0 && byte <= 0xf4) return 4;
  if (byte >= 0xe0 && byte < 0xf0) return 3;
  return byte >= 0xc2 && byte < 0xe0 ? 2 : 1;
}
