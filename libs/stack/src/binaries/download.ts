import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { run } from '../executables.ts';
import { systemReason } from '../stack-error.ts';
import type { ObtainOptions, Obtained } from './obtained.ts';
import type { PinnedBinary } from './pinned.ts';

// Without a network the next way is tried soon; a slow line is not cut once bytes are coming.
const RESPONSE_TIMEOUT_MS = 4_000;
const STALL_TIMEOUT_MS = 15_000;

/**
 * Fetches the release archive of this platform, compares it with the vendor's SHA-256 list and puts the binary at the
 * destination by rename. A missing network, asset or sum, or a wrong sum, is `unavailable` and leaves nothing behind.
 */
export async function downloadBinary(binary: PinnedBinary, options: ObtainOptions): Promise<Obtained> {
  if (options.env['HOLDFAST_DOWNLOADS'] === 'off')
    return { kind: 'unavailable', reason: 'downloads are off' };
  const archive = binary.release.archive({
    os: process.platform,
    arch: process.arch === 'x64' ? 'amd64' : process.arch,
  });
  await mkdir(dirname(options.destination), { recursive: true });
  const scratch = await mkdtemp(`${options.destination}.download-`);
  try {
    const wanted = await readPublishedSum(binary, archive, options.signal);
    options.onProgress(`downloading ${binary.name} ${binary.version}…`);
    const file = join(scratch, archive);
    const sum = await fetchToFile(`${binary.release.url}/${archive}`, file, options.signal);
    if (sum !== wanted)
      return { kind: 'unavailable', reason: `the download of ${archive} does not match its SHA-256` };
    await unpack({
      archive: file,
      folder: scratch,
      binary,
      destination: options.destination,
      env: options.env,
    });
    return { kind: 'done' };
  } catch (error) {
    return { kind: 'unavailable', reason: `the download failed: ${downloadProblem(error)}` };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function readPublishedSum(
  binary: PinnedBinary,
  archive: string,
  signal?: AbortSignal,
): Promise<string> {
  const { response } = await request(`${binary.release.url}/${binary.release.checksums}`, signal);
  const line = (await response.text()).split('\n').find(
    (entry) =>
      entry
        .trim()
        .split(/[\s*]+/)
        .at(-1) === archive,
  );
  const sum = line?.trim().split(/\s+/)[0]?.toLowerCase();
  if (sum === undefined || !/^[0-9a-f]{64}$/.test(sum))
    throw new Error(`${archive} has no published SHA-256`);
  return sum;
}

async function fetchToFile(url: string, file: string, signal?: AbortSignal): Promise<string> {
  const { response, aborter } = await request(url, signal);
  if (response.body === null) throw new Error(`${url} is empty`);
  const hash = createHash('sha256');
  const stall = setTimeout(() => aborter.abort(), STALL_TIMEOUT_MS);
  const observe = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      stall.refresh();
      hash.update(chunk);
      yield chunk;
    }
  };
  try {
    await pipeline(Readable.fromWeb(response.body), observe, createWriteStream(file));
  } finally {
    clearTimeout(stall);
  }
  return hash.digest('hex');
}

async function request(
  url: string,
  signal?: AbortSignal,
): Promise<{ response: Response; aborter: AbortController }> {
  const aborter = new AbortController();
  const timer = setTimeout(() => aborter.abort(), RESPONSE_TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      signal: signal ? AbortSignal.any([aborter.signal, signal]) : aborter.signal,
    });
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    return { response, aborter };
  } finally {
    clearTimeout(timer);
  }
}

async function unpack(options: {
  archive: string;
  folder: string;
  binary: PinnedBinary;
  destination: string;
  env: ObtainOptions['env'];
}): Promise<void> {
  const { archive, folder, binary, destination, env } = options;
  const unpacked = await run('tar', ['-xzf', archive, '-C', folder], { env });
  if (!unpacked.ok) throw new Error(`tar could not unpack ${basename(archive)}`);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const entry = entries.find((candidate) => candidate.isFile() && candidate.name === binary.name);
  if (entry === undefined) throw new Error(`${basename(archive)} holds no ${binary.name}`);
  const unpackedBinary = join(entry.parentPath, entry.name);
  await chmod(unpackedBinary, 0o755);
  await rename(unpackedBinary, destination);
}

function downloadProblem(error: unknown): string {
  if (error instanceof Error && error.name === 'AbortError') return 'no answer in time';
  if (error instanceof TypeError && error.cause !== undefined) return systemReason(error.cause);
  return systemReason(error);
}
