import { z } from 'zod';
import { defineFunctionTool, plainText } from '../../function-tool.ts';

export const viewImageTool = defineFunctionTool({
  name: 'view_image',
  folder: import.meta.url,
  input: z.object({
    path: plainText.describe("Path of the image; relative paths start at the session's folder."),
  }),
  example: { path: 'docs/screenshot.png' },
  effects: 'read',
  supportsParallel: true,
  profiles: ['codex', 'files'],
});
