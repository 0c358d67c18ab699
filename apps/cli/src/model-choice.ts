// model-choice.ts: which model answers a new session, from the command line and the caller's environment.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Env } from '@holdfast/config';
import type { ToolProfile } from '@holdfast/protocol';
import { usageError } from './exit-codes.ts';

/** As the session-api takes it. The key travels in the body of a request on loopback or TLS and is sealed where it arrives. */
export type ModelChoice = {
  name: string;
  baseUrl?: string;
  apiKey?: string;
  script?: string;
  tools?: ToolProfile;
};

export const scriptedNotice =
  'The scripted model answers, because no OPENAI_API_KEY is set; set it (and OPENAI_BASE_URL for another provider) to ask a real one.';

const defaultModel = 'gpt-5.5';
const openAiUrl = 'https://api.openai.com/v1';

/** @throws CliError (2) when the script cannot be read or is not one */
export async function chooseModel(
  place: { env: Env; cwd: string },
  options: { model: string | undefined; script: string | undefined; tools?: ToolProfile },
): Promise<ModelChoice> {
  const { env, cwd } = place;
  const name = options.model ?? (env['HOLDFAST_MODEL'] || defaultModel);
  const base = { name, ...(options.tools === undefined ? {} : { tools: options.tools }) };
  if (options.script !== undefined)
    return { ...base, script: await readScript(resolve(cwd, options.script)) };
  const apiKey = env['OPENAI_API_KEY'] || undefined;
  const baseUrl = env['OPENAI_BASE_URL'] || (apiKey === undefined ? undefined : openAiUrl);
  return {
    ...base,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

/** Nobody brings an endpoint or a script, so the stack's own decides. */
export function isLeftToStack(choice: ModelChoice): boolean {
  return choice.baseUrl === undefined && choice.script === undefined;
}

async function readScript(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usageError(`The script ${file} cannot be read (${error.code ?? error.message}); check the path.`);
  });
  const { parseScript } = await import('@holdfast/model-script');
  parseScript(text, file);
  return text;
}
