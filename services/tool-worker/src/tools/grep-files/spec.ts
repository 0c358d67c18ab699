import { z } from 'zod';
import { defineFunctionTool, plainText } from '../../function-tool.ts';

export const grepFilesTool = defineFunctionTool({
  name: 'grep_files',
  folder: import.meta.url,
  input: z.object({
    pattern: plainText.describe('Regular expression to search for.'),
    include: plainText.optional().describe('Glob that limits the files.'),
    path: plainText
      .default('.')
      .describe("File or folder to search; relative paths start at the session's folder."),
    limit: z
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .max(2000, 'must be at most 2000')
      .default(100)
      .describe('Most files to return.'),
  }),
  example: { pattern: 'createServer\\(', include: '*.ts', path: 'src' },
  effects: 'read',
  supportsParallel: true,
  profiles: ['files'],
});
