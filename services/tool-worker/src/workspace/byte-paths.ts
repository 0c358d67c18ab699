// byte-paths.ts: file names as the kernel has them: bytes, one character a byte, so that names that are not UTF-8 survive.

/** A path whose characters are the bytes of the real one. */
export type BytePath = string;

const beyondAscii = /[^\0-\u007f]/;

/** What `node:fs` takes. */
export function toFsPath(path: BytePath): string | Buffer {
  return beyondAscii.test(path) ? Buffer.from(path, 'latin1') : path;
}

export function toBytePath(path: string): BytePath {
  return beyondAscii.test(path) ? Buffer.from(path).toString('latin1') : path;
}

/** For people. */
export function toShownPath(path: BytePath): string {
  return beyondAscii.test(path) ? Buffer.from(path, 'latin1').toString('utf8') : path;
}
