import { z } from 'zod';
import { defineFunctionTool, plainText } from '../../function-tool.ts';

const positive = z.int('must be a whole number').min(1, 'must be at least 1');

export const listDirTool = defineFunctionTool({
  name: 'list_dir',
  folder: import.meta.url,
  input: z.object({
    dir_path: plainText
      .default('.')
      .describe("Path of the folder; relative paths start at the session's folder."),
    offset: positive.default(1).describe('First entry to return, from 1.'),
    limit: positive.max(1000, 'must be at most 1000').default(100).describe('Most entries to return.'),
    depth: positive.default(2).describe('Levels of folders to show.'),
  }),
  example: { dir_path: 'src', depth: 2 },
  effects: 'read',
  supportsParallel: true,
  profiles: ['files'],
});
