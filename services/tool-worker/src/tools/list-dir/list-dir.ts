import { statSync } from 'node:fs';
import { assertExists, toAbsolutePath } from '../../files/file-path.ts';
import { toPageSize, type PageSize } from '../../page-size.ts';
import { createReadingTool, ToolError } from '../../reading-tool.ts';
import type { Tool } from '../../tool.ts';
import { listDirTool } from './spec.ts';
import { listTree, type TreeEntry } from './tree.ts';

/** Counting goes no further than this, however large the tree is. */
const countLimit = 20_000;

export function createListDir(): Tool {
  return createReadingTool(listDirTool, async (given, context, { signal }) => {
    const path = toAbsolutePath(given.dir_path, context.cwd);
    assertExists(path);
    if (!statSync(path).isDirectory())
      throw new ToolError(`${path} is not a folder; use read_file to read it`);
    const counted = await countEntries(path, { ...given, size: toPageSize(context, given.limit), signal });
    return { text: `Absolute path: ${path}\n${toListing(given.offset, counted)}` };
  });
}

type Counted = { shown: string[]; total: number; isComplete: boolean };

async function countEntries(
  path: string,
  { offset, size, depth, signal }: { offset: number; size: PageSize; depth: number; signal: AbortSignal },
): Promise<Counted> {
  const shown: string[] = [];
  let total = 0;
  let bytes = 0;
  for await (const entry of listTree(path, { levels: depth, signal })) {
    if (total >= Math.max(countLimit, offset + size.lines)) return { shown, total, isComplete: false };
    total += 1;
    const line = toLine(entry);
    bytes += total >= offset ? Buffer.byteLength(line) + 1 : 0;
    if (total >= offset && shown.length < size.lines && bytes <= size.bytes) shown.push(line);
  }
  return { shown, total, isComplete: true };
}

function toListing(offset: number, { shown, total, isComplete }: Counted): string {
  if (total === 0) return 'The folder is empty.';
  if (shown.length === 0)
    throw new ToolError(`offset ${offset} is past the last entry; there are ${total} within this depth`);
  const last = offset + shown.length - 1;
  const lines = shown.join('\n');
  if (isComplete && offset === 1 && last === total) return lines;
  const count = isComplete ? `${total}` : `more than ${total}`;
  const next = last === total ? 'These are the last ones.' : `Ask again with offset ${last + 1} for more.`;
  return `${lines}\nShowing entries ${offset}–${last} of ${count}. ${next}`;
}

function toLine({ depth, name, mark }: TreeEntry): string {
  return `${'  '.repeat(depth)}${name}${mark}`;
}
