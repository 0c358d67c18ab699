import { statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { assertExists, toAbsolutePath } from '../../files/file-path.ts';
import { toPageSize, type PageSize } from '../../page-size.ts';
import { createReadingTool } from '../../reading-tool.ts';
import type { Tool } from '../../tool.ts';
import { findMatchingFiles } from './ripgrep.ts';
import { grepFilesTool } from './spec.ts';

const statBatch = 2_000;

export function createGrepFiles(): Tool {
  return createReadingTool(grepFilesTool, async (given, context, { signal }) => {
    const path = toAbsolutePath(given.path, context.cwd);
    assertExists(path);
    const found = await findMatchingFiles({ ...given, path }, signal);
    if (found.length === 0) return { text: `No file in ${path} matches.` };
    return { text: toListing(await sortByTime(found), toPageSize(context, given.limit)) };
  });
}

/** Newest first, then by name. */
async function sortByTime(paths: readonly string[]): Promise<string[]> {
  const files: { path: string; at: number }[] = [];
  for (const path of paths) {
    // Asking in turn is several times faster than asking for all at once; others get their turn now and then.
    if (files.length % statBatch === statBatch - 1) await setImmediate();
    files.push({ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 });
  }
  return files
    .toSorted((one, other) => other.at - one.at || (one.path < other.path ? -1 : 1))
    .map(({ path }) => path);
}

function toListing(paths: readonly string[], size: PageSize): string {
  let bytes = 0;
  const shown = paths.slice(0, size.lines).filter((path) => {
    bytes += Buffer.byteLength(path) + 1;
    return bytes <= size.bytes;
  });
  const lines = shown.map((path) => path.replaceAll(/\p{Cc}/gu, '?')).join('\n');
  if (shown.length === paths.length) return lines;
  return `${lines}\nShowing ${shown.length} of ${paths.length} files. Use a narrower pattern, include or path to see the others.`;
}
