import { execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Env } from '@holdfast/config';

/** Whether the file exists, is a regular file and may be executed by this user. */
export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/** The first executable called `name` on the PATH of `env`, or null. */
export async function findOnPath(name: string, env: Env): Promise<string | null> {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    if (folder === '') continue;
    const file = join(folder, name);
    if (await isExecutable(file)) return file;
  }
  return null;
}

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

export type RunResult = { ok: boolean; stdout: string; stderr: string };

/** Runs a program to its end without a shell. Never rejects: a missing program or an exit code is `ok: false`. */
export function run(
  command: string,
  args: readonly string[],
  options: { env: Env; cwd?: string; timeoutMs?: number; signal?: AbortSignal },
): Promise<RunResult> {
  const { env, cwd, timeoutMs, signal } = options;
  const limits = { ...(cwd && { cwd }), ...(timeoutMs && { timeout: timeoutMs }), ...(signal && { signal }) };
  return new Promise((resolve) => {
    execFile(
      command,
      [...args],
      { env, encoding: 'utf8', maxBuffer: MAX_OUTPUT_BYTES, ...limits },
      (error, stdout, stderr) =>
        resolve({ ok: error === null, stdout, stderr: stderr || (error?.message ?? '') }),
    );
  });
}
