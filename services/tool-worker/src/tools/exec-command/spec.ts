import { readFileSync } from 'node:fs';
import type { ToolSpec } from '@holdfast/protocol';
import { z } from 'zod';

const defaultTimeoutMs = 30 * 60_000;
const longestTimeoutMs = 24 * 60 * 60_000;
/** What the model reads of an output at most. */
const outputLimitTokens = 10_000;

const schema = z.object({
  cmd: z.string().min(1, 'must not be empty').describe('Shell command to run.'),
  workdir: z
    .string()
    .optional()
    .describe("Folder to run it in; relative paths start at the session's folder."),
  shell: z.string().min(1, 'must not be empty').optional().describe('Shell to run it with; default bash.'),
  login: z.boolean().optional().describe('Use the environment of a login shell; default true.'),
  timeout_ms: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(longestTimeoutMs, `must be at most ${longestTimeoutMs}`)
    .optional()
    .describe(
      `Kill the command after this many milliseconds; default ${defaultTimeoutMs}, at most ${longestTimeoutMs}.`,
    ),
  yield_time_ms: z
    .number('must be a number')
    .optional()
    .describe('Accepted and not needed: the call ends when the command ends.'),
  max_output_tokens: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .optional()
    .describe(`Most tokens of output to return; default and maximum ${outputLimitTokens}.`),
});

export type ExecArguments = {
  cmd: string;
  workdir?: string;
  shell?: string;
  login: boolean;
  timeoutMs: number;
  outputTokens: number;
};

const example = '{"cmd": "ls -la", "workdir": "src"}';

export const execCommandSpec: ToolSpec = {
  name: 'exec_command',
  description: readFileSync(new URL('description.md', import.meta.url), 'utf8').trim(),
  placement: 'machine',
  effects: 'execute',
  supportsParallel: true,
  form: { kind: 'function', parameters: toParameters() },
};

/** Members that are null count as left out. @returns a sentence for the model when the arguments cannot be used */
export function parseArguments(input: string): ExecArguments | string {
  let value: unknown;
  try {
    value = JSON.parse(input);
  } catch (error) {
    return toRefusal(error instanceof Error ? error.message : 'not JSON');
  }
  const parsed = schema.safeParse(isRecord(value) ? withoutNulls(value) : value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const name = issue?.path.join('.');
    return toRefusal(
      name ? `${name}: ${issue?.message ?? 'not valid'}` : 'an object with the member cmd is needed',
    );
  }
  const { cmd, workdir, shell, login = true, timeout_ms: timeoutMs = defaultTimeoutMs } = parsed.data;
  const outputTokens = Math.min(parsed.data.max_output_tokens ?? outputLimitTokens, outputLimitTokens);
  return {
    cmd,
    login,
    timeoutMs,
    outputTokens,
    ...(workdir ? { workdir } : {}),
    ...(shell ? { shell } : {}),
  };
}

function toRefusal(reason: string): string {
  return `failed to parse function arguments: ${reason}. A valid call: ${example}`;
}

function withoutNulls(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toParameters(): Record<string, unknown> {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema);
  return parameters;
}
