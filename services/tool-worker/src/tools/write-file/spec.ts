import { z } from 'zod';
import { defineFunctionTool, plainText } from '../../function-tool.ts';

export const writeFileTool = defineFunctionTool({
  name: 'write_file',
  folder: import.meta.url,
  input: z.object({
    file_path: plainText.describe("Path of the file; relative paths start at the session's folder."),
    content: z.string().describe('The whole text of the file, written as UTF-8.'),
  }),
  example: { file_path: 'notes/todo.md', content: '# To do\n' },
  effects: 'write',
  profiles: ['files'],
});
