import { z } from 'zod';
import { defineFunctionTool, plainText } from '../../function-tool.ts';

const line = z.int('must be a whole number').min(1, 'must be at least 1');

const indentation = z.object({
  anchor_line: line.optional().describe('Line whose block is wanted; default the offset.'),
  max_levels: z
    .int('must be a whole number')
    .min(0, 'must be at least 0')
    .default(0)
    .describe('How many levels of indentation to go out; 0 for all.'),
  include_siblings: z.boolean().default(false).describe('Also the blocks beside it on the outermost level.'),
  include_header: z.boolean().default(true).describe('Also the comments right above the block.'),
  max_lines: line.optional().describe('Most lines of the block; default the limit.'),
});

export const readFileTool = defineFunctionTool({
  name: 'read_file',
  folder: import.meta.url,
  input: z.object({
    file_path: plainText.describe("Path of the file; relative paths start at the session's folder."),
    offset: line.default(1).describe('First line to return, from 1.'),
    limit: line.default(2000).describe('Most lines to return.'),
    mode: z.enum(['slice', 'indentation'], "must be 'slice' or 'indentation'").default('slice'),
    indentation: indentation.optional().describe('For mode indentation.'),
  }),
  example: { file_path: 'src/main.ts', offset: 1, limit: 200 },
  effects: 'read',
  supportsParallel: true,
  profiles: ['files'],
});

type Given = Extract<ReturnType<typeof readFileTool.readArguments>, { kind: 'valid' }>['value'];
export type ReadFileArguments = Given;
export type IndentationArguments = z.output<typeof indentation>;
