import type { CallContext } from '@holdfast/protocol';
import { toAbsolutePath } from '../../files/file-path.ts';
import { readLines } from '../../files/text-file.ts';
import { toPageSize, type PageSize } from '../../page-size.ts';
import { createReadingTool, ToolError, type Reader } from '../../reading-tool.ts';
import type { Tool } from '../../tool.ts';
import { findBlock } from './indentation.ts';
import { createPage, toText } from './page.ts';
import { readSlice } from './slice.ts';
import { readFileTool, type ReadFileArguments } from './spec.ts';

/** Characters of one line that the model reads. */
const lineLimit = 500;
/** Indentation needs the whole file in memory. */
const blockFileLines = 200_000;

export function createReadFile(): Tool {
  const toPath = (given: ReadFileArguments, { cwd }: Pick<CallContext, 'cwd'>) =>
    toAbsolutePath(given.file_path, cwd);
  const read: Reader<ReadFileArguments> = async (given, context, { signal }) => {
    const path = toPath(given, context);
    const size = toPageSize(context, given.limit);
    const options = { lineLimit, signal };
    const text =
      given.mode === 'slice'
        ? await readSlice(path, { offset: given.offset, size }, options)
        : await readBlock(path, { ...given, size }, options);
    return { text };
  };
  return createReadingTool(readFileTool, read, toPath);
}

async function readBlock(
  path: string,
  given: ReadFileArguments & { size: PageSize },
  options: { lineLimit: number; signal: AbortSignal },
): Promise<string> {
  const { indentation } = given;
  const anchor = indentation?.anchor_line ?? given.offset;
  const lines: string[] = [];
  const onLine = (line: string) => {
    if (lines.length === blockFileLines)
      throw new ToolError(`${path} has more than ${blockFileLines} lines; read it with mode slice`);
    lines.push(line);
  };
  await readLines(path, { ...options, onLine });
  if (anchor > lines.length)
    throw new ToolError(`line ${anchor} is past the end of ${path}, which has ${lines.length} lines`);
  const block = findBlock(lines, {
    anchor,
    max_levels: indentation?.max_levels ?? 0,
    include_siblings: indentation?.include_siblings ?? false,
    include_header: indentation?.include_header ?? true,
    limit: Math.min(given.limit, indentation?.max_lines ?? given.limit),
  });
  const page = createPage(given.size);
  const left = block.find((line) => !page.add(line));
  const text = page.lines().map(toText).join('\n');
  return left
    ? `${text}\nThe block goes on; ask again with mode slice and offset ${left.number} for more.`
    : text;
}
