import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Env } from '@holdfast/config';
import { waitForLock } from '@holdfast/kernel-lock';
import { findOnPath, isExecutable, run } from '../executables.ts';
import { StackError, stackCodes, systemReason } from '../stack-error.ts';
import { buildBinary } from './build.ts';
import { downloadBinary } from './download.ts';
import type { PinnedBinary } from './pinned.ts';

const VERSION_TIMEOUT_MS = 10_000;

export type FindBinaryOptions = {
  env: Env;
  /** Root of the cache; binaries live in `<cacheDir>/bin/<name>-<version>`. */
  cacheDir: string;
  /** Folder with the go.mod that pins the servers. */
  toolsDir: string;
  /** Receives one line for each phase that takes time. */
  onProgress: (line: string) => void;
  /** Ends a download or build under way; the promise then rejects with `stack.binary-missing`. */
  signal?: AbortSignal;
};

/**
 * The path of an executable of the server. Looked for in this order: the binary's environment variable, PATH (only a
 * version that will do), the cache, the vendor's release (checked against its SHA-256 list; not with
 * HOLDFAST_DOWNLOADS=off), a build with Go. What is fetched or built goes to the cache in one step; a second process
 * that wants the same binary waits for the first. Throws `stack.binary-missing`.
 */
export async function findBinary(binary: PinnedBinary, options: FindBinaryOptions): Promise<string> {
  const configured = options.env[binary.variable];
  if (configured) {
    if (await isExecutable(configured)) return configured;
    throw new StackError(
      stackCodes.binaryMissing,
      `${binary.variable}=${configured} is not an executable file: correct it or unset it.`,
    );
  }
  return (await findAcceptableOnPath(binary, options.env)) ?? findInCache(binary, options);
}

async function findAcceptableOnPath(binary: PinnedBinary, env: Env): Promise<string | null> {
  const found = await findOnPath(binary.name, env);
  if (found === null) return null;
  const { ok, stdout } = await run(found, ['--version'], { env, timeoutMs: VERSION_TIMEOUT_MS });
  const version = /\d+\.\d+\.\d+\S*/.exec(stdout)?.[0];
  return ok && version !== undefined && binary.accepts(version) ? found : null;
}

async function findInCache(binary: PinnedBinary, options: FindBinaryOptions): Promise<string> {
  const folder = join(options.cacheDir, 'bin');
  const cached = join(folder, `${binary.name}-${binary.version}`);
  if (await isExecutable(cached)) return cached;
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw new StackError(
      stackCodes.binaryMissing,
      `The cache folder ${folder} cannot be created (${systemReason(error)}): repair its permissions or set XDG_CACHE_HOME.`,
      { cause: error },
    );
  });
  const lock = await waitForLock(`${cached}.lock`, options.signal);
  try {
    if (await isExecutable(cached)) return cached;
    await obtainBinary(binary, { ...options, destination: cached });
    return cached;
  } finally {
    lock.release();
  }
}

async function obtainBinary(
  binary: PinnedBinary,
  options: FindBinaryOptions & { destination: string },
): Promise<void> {
  const reasons: string[] = [];
  for (const attempt of [downloadBinary, buildBinary]) {
    const result = await attempt(binary, options);
    if (result.kind === 'done') return;
    reasons.push(result.reason);
  }
  throw new StackError(
    stackCodes.binaryMissing,
    `${binary.name} ${binary.version} was not found (${reasons.join('; ')}): ${binary.installHint}.`,
  );
}
