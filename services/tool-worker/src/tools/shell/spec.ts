import { z } from 'zod';
import { defineFunctionTool, plainText } from '../../function-tool.ts';

const longestTimeoutMs = 24 * 60 * 60_000;

/** The form that models before `exec_command` know. */
export const shellTool = defineFunctionTool({
  name: 'shell',
  folder: import.meta.url,
  input: z.object({
    command: z
      .array(z.string().refine((text) => !text.includes('\0'), 'must not contain a NUL character'))
      .min(1, 'must not be empty')
      .describe('Program and arguments.'),
    workdir: plainText
      .optional()
      .describe("Folder to run it in; relative paths start at the session's folder."),
    timeout_ms: z
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .max(longestTimeoutMs, `must be at most ${longestTimeoutMs}`)
      .optional()
      .describe('Kill the command after this many milliseconds.'),
  }),
  example: { command: ['bash', '-lc', 'ls -la'], workdir: 'src' },
  effects: 'execute',
  supportsParallel: true,
  profiles: ['files'],
});

export type ShellArguments = {
  command: string[];
  workdir?: string | undefined;
  timeout_ms?: number | undefined;
};
