import { readLines } from '../../files/text-file.ts';
import type { PageSize } from '../../page-size.ts';
import { ToolError } from '../../reading-tool.ts';
import { createPage, toText } from './page.ts';

export type Slice = { offset: number; size: PageSize };

/** @throws ToolError when the file has no such line, and those of `readLines` */
export async function readSlice(
  path: string,
  { offset, size }: Slice,
  options: { lineLimit: number; signal: AbortSignal },
): Promise<string> {
  const page = createPage(size);
  let total = 0;
  const onLine = (text: string) => {
    total += 1;
    if (total >= offset) page.add({ number: total, text });
  };
  await readLines(path, { ...options, onLine });
  if (total === 0 && offset === 1) return `${path} is empty.`;
  const lines = page.lines();
  const last = lines.at(-1)?.number;
  if (last === undefined)
    throw new ToolError(`offset ${offset} is past the end of ${path}, which has ${total} lines`);
  const text = lines.map(toText).join('\n');
  if (last === total && offset === 1) return text;
  const next =
    last === total ? 'This is the end of the file.' : `Ask again with offset ${last + 1} for more.`;
  return `${text}\nShowing lines ${offset}–${last} of ${total}. ${next}`;
}
