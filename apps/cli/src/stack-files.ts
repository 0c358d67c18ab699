// stack-files.ts: finds the running stack by two small files, with as few imports as can be: this is the way of every warm
// `exec`. What writes them is libs/stack; a test holds the two to the same places.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Env } from '@holdfast/config';
import { CliError, exitCodes } from './exit-codes.ts';

export type StackDoor = {
  sessionApiUrl: string;
  apiToken: string;
};

export type StackPlace = { root: string; env: Env };

/** The state folder of the checkout's stack. */
export function toStateDir({ root, env }: StackPlace): string {
  const configured = env['HOLDFAST_STATE_DIR'];
  if (configured) return resolve(configured);
  const home = absoluteOr(env['HOME'], homedir());
  const { hash } = process.getBuiltinModule('node:crypto');
  const checkout = hash('sha256', resolve(root)).slice(0, 12);
  return join(absoluteOr(env['XDG_STATE_HOME'], join(home, '.local', 'state')), 'holdfast', checkout);
}

/** The way into the running stack, or null when none is up. @throws CliError (1) when the folder cannot be read */
export function readStackDoor(place: StackPlace): StackDoor | null {
  const folder = toStateDir(place);
  const stack = readJson(folder, 'stack.json');
  const secrets = stack === null ? null : readJson(folder, 'secrets.json');
  const sessionApiUrl = stack?.['sessionApiUrl'];
  const apiToken = secrets?.['apiToken'];
  return typeof sessionApiUrl === 'string' && typeof apiToken === 'string'
    ? { sessionApiUrl, apiToken }
    : null;
}

/** Where the supervisor notes which model answers when a caller brings none. */
export const modelNoteFile = 'model.json';

/** Whether the stack has a model endpoint of its own; a stack that does not say has one. */
export function hasStackModel(place: StackPlace): boolean {
  return readJson(toStateDir(place), modelNoteFile)?.['endpoint'] !== 'scripted';
}

function readJson(folder: string, name: string): Record<string, unknown> | null {
  const file = join(folder, name);
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    // A folder or file that is not there yet, or is being replaced, means that no stack is up.
    if (reason === undefined || reason === 'ENOENT') return null;
    throw new CliError(
      exitCodes.failed,
      `The state folder ${folder} cannot be read (${reason}): repair its permissions or set HOLDFAST_STATE_DIR to another folder.`,
      { cause: error },
    );
  }
}

function absoluteOr(value: string | undefined, fallback: string): string {
  return value !== undefined && isAbsolute(value) ? value : fallback;
}
