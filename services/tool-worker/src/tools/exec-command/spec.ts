import { z } from 'zod';
import { defineFunctionTool } from '../../function-tool.ts';

const defaultYieldMs = 10_000;
const shortestYieldMs = 250;
const longestYieldMs = 30_000;
const longestTimeoutMs = 24 * 60 * 60_000;
/** What the model reads of an output at most. */
const outputLimitTokens = 10_000;

const tool = defineFunctionTool({
  name: 'exec_command',
  folder: import.meta.url,
  input: z.object({
    cmd: z.string().min(1, 'must not be empty').describe('Shell command to run.'),
    workdir: z
      .string()
      .optional()
      .describe("Folder to run it in; relative paths start at the session's folder."),
    shell: z.string().min(1, 'must not be empty').optional().describe('Shell to run it with; default bash.'),
    login: z.boolean().optional().describe('Use the environment of a login shell; default true.'),
    tty: z
      .boolean()
      .optional()
      .describe(
        'Run it on a terminal that write_stdin can type into; default false: pipes and a closed stdin.',
      ),
    yield_time_ms: z
      .number('must be a number')
      .optional()
      .describe(
        `Milliseconds to wait for the command to end before it goes on in the background; default ${defaultYieldMs}, from ${shortestYieldMs} to ${longestYieldMs}.`,
      ),
    timeout_ms: z
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .max(longestTimeoutMs, `must be at most ${longestTimeoutMs}`)
      .optional()
      .describe(
        `Kill the command after this many milliseconds, also in the background; default never, at most ${longestTimeoutMs}.`,
      ),
    notify_on_exit: z
      .boolean()
      .optional()
      .describe(
        'Send a message into this session when the command has ended in the background; default false.',
      ),
    max_output_tokens: z
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .optional()
      .describe(`Most tokens of output to return; default and maximum ${outputLimitTokens}.`),
  }),
  example: { cmd: 'ls -la', workdir: 'src' },
  effects: 'execute',
  supportsParallel: true,
});

export const execCommandSpec = tool.spec;

export type ExecArguments = {
  cmd: string;
  workdir?: string;
  shell?: string;
  login: boolean;
  tty: boolean;
  notify: boolean;
  yieldMs: number;
  timeoutMs?: number;
  outputTokens: number;
};

/** @returns a sentence for the model when the arguments cannot be used */
export function parseArguments(input: string): ExecArguments | string {
  const read = tool.readArguments(input);
  if (read.kind === 'refused') return read.text;
  const { cmd, workdir, shell, login = true, tty = false, timeout_ms: timeoutMs } = read.value;
  const { yield_time_ms: wanted = defaultYieldMs, max_output_tokens: tokens = outputLimitTokens } =
    read.value;
  return {
    cmd,
    login,
    tty,
    notify: read.value.notify_on_exit ?? false,
    yieldMs: Math.min(Math.max(wanted, shortestYieldMs), longestYieldMs),
    outputTokens: Math.min(tokens, outputLimitTokens),
    ...(workdir ? { workdir } : {}),
    ...(shell ? { shell } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}
