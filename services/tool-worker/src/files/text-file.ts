// text-file.ts: the lines of a text file of any size, in constant memory.
import { isUtf8 } from 'node:buffer';
import { open, type FileHandle } from 'node:fs/promises';
import { ToolError } from '../reading-tool.ts';
import { assertExists } from './file-path.ts';
import { toEncoding, toTypeName, type TextEncoding } from './file-type.ts';

const blockBytes = 256 * 1024;
/** Enough to tell text from everything else. */
const sampleBytes = 8 * 1024;

export type LineReader = (line: string) => void;

/**
 * Calls `onLine` for each line without its line end; a line is cut after `lineLimit` characters, never inside of one. A byte order mark is
 * left out. UTF-8, UTF-16 and Latin-1 are told apart by the content.
 * @throws ToolError for what is no text file; the signal's reason after an abort
 */
export async function readLines(
  path: string,
  options: { lineLimit: number; signal: AbortSignal; onLine: LineReader },
): Promise<void> {
  assertExists(path);
  const file = await open(path);
  try {
    const stat = await file.stat();
    if (stat.isDirectory()) throw new ToolError(`${path} is a folder; use list_dir to see what is in it`);
    if (!stat.isFile()) throw new ToolError(`${path} is not a regular file`);
    const encoding = await detectEncoding(file, { path, size: stat.size });
    const decoder = new TextDecoder(encoding);
    const lines = createLineCutter(options);
    for await (const block of readBlocks(file, options.signal))
      lines.add(decoder.decode(block, { stream: true }));
    lines.add(decoder.decode());
    lines.end();
  } finally {
    await file.close();
  }
}

async function detectEncoding(
  file: FileHandle,
  { path, size }: { path: string; size: number },
): Promise<TextEncoding> {
  const { buffer, bytesRead } = await file.read({
    buffer: Buffer.allocUnsafe(Math.min(blockBytes, Math.max(size, 1))),
    position: 0,
  });
  const start = buffer.subarray(0, bytesRead);
  const sample = start.subarray(0, sampleBytes);
  const encoding = toEncoding(sample);
  if (!encoding) {
    const type = toTypeName(sample) ?? 'unknown type';
    const hint = type.endsWith('image')
      ? 'use view_image to look at it'
      : 'use a program that knows its format';
    throw new ToolError(`${path} is a binary file (${type}, ${toSize(size)}), so it has no lines; ${hint}`);
  }
  if (encoding !== 'utf-8' || (await isUtf8File(file, start))) return encoding;
  return 'latin1';
}

async function isUtf8File(file: FileHandle, start: Buffer): Promise<boolean> {
  if (start.length < blockBytes) return isUtf8(start);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const block of readBlocks(file, new AbortController().signal))
      decoder.decode(block, { stream: true });
    decoder.decode();
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

async function* readBlocks(file: FileHandle, signal: AbortSignal): AsyncGenerator<Buffer> {
  const block = Buffer.allocUnsafe(blockBytes);
  for (let position = 0; ;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(block, 0, blockBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield block.subarray(0, bytesRead);
  }
}

/** Keeps no more of a line than is wanted, however long it is. */
function createLineCutter({ lineLimit, onLine }: { lineLimit: number; onLine: LineReader }) {
  let line = '';
  let isOpen = false;
  const take = (text: string) => {
    // One unit more than wanted shows whether the last character is whole.
    if (line.length <= lineLimit) line += text.slice(0, lineLimit + 1 - line.length);
    isOpen = true;
  };
  const finish = () => {
    onLine(cut(line.endsWith('\r') ? line.slice(0, -1) : line, lineLimit));
    line = '';
    isOpen = false;
  };
  return {
    add: (text: string) => {
      let from = 0;
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
        take(text.slice(from, end));
        finish();
        from = end + 1;
      }
      if (from < text.length) take(text.slice(from));
    },
    end: () => {
      if (isOpen) finish();
    },
  };
}

/** Shortens to so many UTF-16 units, one less where a character would be split. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd8_00 && last <= 0xdb_ff ? limit - 1 : limit);
}

export function toSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const kibibytes = bytes / 1024;
  return kibibytes < 1024 ? `${kibibytes.toFixed(1)} KiB` : `${(kibibytes / 1024).toFixed(1)} MiB`;
}
