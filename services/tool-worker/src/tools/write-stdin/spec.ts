import { z } from 'zod';
import { defineFunctionTool } from '../../function-tool.ts';

const defaultYieldMs = 250;
const shortestYieldMs = 250;
const longestInputYieldMs = 30_000;
const shortestPollMs = 5_000;
const longestPollMs = 300_000;
/** What the model reads of an output at most. */
const outputLimitTokens = 10_000;

const tool = defineFunctionTool({
  name: 'write_stdin',
  folder: import.meta.url,
  input: z.object({
    session_id: z.int('must be a whole number').describe('The session ID that exec_command returned.'),
    chars: z
      .string('must be a string')
      .optional()
      .describe('What to type; empty or left out: only wait for output. `\\u0003` interrupts.'),
    yield_time_ms: z
      .number('must be a number')
      .optional()
      .describe(
        `Milliseconds to wait for output: after typing default ${defaultYieldMs}, at most ${longestInputYieldMs}; without chars from ${shortestPollMs} to ${longestPollMs}.`,
      ),
    max_output_tokens: z
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .optional()
      .describe(`Most tokens of output to return; default and maximum ${outputLimitTokens}.`),
  }),
  example: { session_id: 1234, chars: 'y\n' },
  effects: 'execute',
  profiles: ['codex', 'files'],
});

export const writeStdinSpec = tool.spec;

export type WriteArguments = { number: number; input: string; yieldMs: number; outputTokens: number };

/** @returns a sentence for the model when the arguments cannot be used */
export function parseArguments(input: string): WriteArguments | string {
  const read = tool.readArguments(input);
  if (read.kind === 'refused') return read.text;
  const { session_id: number, chars = '', yield_time_ms: wanted = defaultYieldMs } = read.value;
  const { max_output_tokens: tokens = outputLimitTokens } = read.value;
  const yieldMs =
    chars === ''
      ? clamp(wanted, shortestPollMs, longestPollMs)
      : clamp(wanted, shortestYieldMs, longestInputYieldMs);
  return { number, input: chars, yieldMs, outputTokens: Math.min(tokens, outputLimitTokens) };
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
