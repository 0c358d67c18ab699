import { access, constants } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';

/** The full path of a program; one with a slash is relative to `cwd`. @returns undefined when there is none that may be executed */
export async function findExecutable(options: {
  command: string;
  cwd?: string;
  path: string;
}): Promise<string | undefined> {
  const candidates = options.command.includes('/')
    ? [resolve(options.cwd ?? '.', options.command)]
    : options.path.split(delimiter).map((folder) => join(folder === '' ? '.' : folder, options.command));
  for (const candidate of candidates) {
    const executable = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (executable) return candidate;
  }
  return undefined;
}
