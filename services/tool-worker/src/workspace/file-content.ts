// file-content.ts: reads files that anybody may change, replace or take away at the same time.
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, readlinkSync } from 'node:fs';
import { toFsPath, type BytePath } from './byte-paths.ts';
import { modes, toType } from './tree.ts';

/** Most files fit; the thread reads one at a time. */
const scratch = Buffer.allocUnsafeSlow(256 * 1024);

/** Of a regular file or a link; good until the next read. Never waits, as reading a pipe would. */
export function readContent(path: BytePath, mode: number): Buffer {
  if (toType(mode) === modes.link) return readlinkSync(toFsPath(path), { encoding: 'buffer' });
  const fd = openSync(toFsPath(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!fstatSync(fd).isFile()) throw Object.assign(new Error('not a file any more'), { syscall: 'open' });
    const read = readSync(fd, scratch);
    const start = scratch.subarray(0, read);
    return read < scratch.length ? start : Buffer.concat([start, readFileSync(fd)]);
  } finally {
    closeSync(fd);
  }
}

/** Something is amiss with a path, for example that it is gone. */
export function isOfFileSystem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}
