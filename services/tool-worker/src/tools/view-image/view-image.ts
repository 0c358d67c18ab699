import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { BlobStore } from '@holdfast/agent-loop';
import { assertExists, toAbsolutePath } from '../../files/file-path.ts';
import { toSize } from '../../files/text-file.ts';
import { createReadingTool, ToolError } from '../../reading-tool.ts';
import type { Tool } from '../../tool.ts';
import { encodeImage, type EncodedImage } from './image-encoding.ts';
import { viewImageTool } from './spec.ts';

const fileLimitBytes = 64 * 1024 * 1024;

/** @param options.blobs keeps what the model looks at */
export function createViewImage({ blobs }: { blobs: Pick<BlobStore, 'putBlob'> }): Tool {
  return createReadingTool(viewImageTool, async (given, { cwd }) => {
    const path = toAbsolutePath(given.path, cwd);
    assertExists(path);
    const stat = statSync(path);
    if (!stat.isFile()) throw new ToolError(`${path} is not a file; use list_dir to see what is in a folder`);
    if (stat.size > fileLimitBytes)
      throw new ToolError(
        `${path} has ${toSize(stat.size)}, more than ${toSize(fileLimitBytes)}; make a smaller copy`,
      );
    const encoded = await encodeImage(await readFile(path), path);
    const { bytes, mediaType } = encoded;
    const image = { ...(await blobs.putBlob({ bytes, mediaType })), mediaType };
    return { text: toText(path, stat.size, encoded), image };
  });
}

function toText(path: string, size: number, { original, shown }: EncodedImage): string {
  const { format, width, height } = original;
  const scaled = shown && (shown.width !== width || shown.height !== height);
  const note = scaled ? `, shown with ${shown.width} × ${shown.height} pixels` : '';
  return `${path}: ${format.toUpperCase()}, ${width} × ${height} pixels, ${toSize(size)}${note}.`;
}
