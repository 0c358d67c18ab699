import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { downloadBinary } from '../src/binaries/download.ts';
import { natsServerBinary } from '../src/binaries/pinned.ts';
import { scratchFolder } from './fixtures/scratch.ts';

const ARCHIVE = 'nats-server-v2.14.5.tar.gz';

/** A release as a vendor publishes it; `files` are the assets by name. */
async function publish(files: Record<string, Buffer | string>) {
  const requested: string[] = [];
  const server = createServer((request, response) => {
    const name = request.url?.split('/').at(-1) ?? '';
    requested.push(name);
    const content = files[name];
    response.statusCode = content === undefined ? 404 : 200;
    response.end(content);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const release = {
    ...natsServerBinary.release,
    url: `http://127.0.0.1:${port}/v2.14.5`,
    archive: () => ARCHIVE,
  };
  const close = async () => void (await once(server.close(), 'close'));
  return { requested, binary: { ...natsServerBinary, release }, close };
}

function packArchive(): Buffer {
  const folder = scratchFolder();
  mkdirSync(join(folder, 'nats-server-v2.14.5'));
  writeFileSync(join(folder, 'nats-server-v2.14.5', 'README.md'), 'read me');
  writeFileSync(join(folder, 'nats-server-v2.14.5', 'nats-server'), '#!/bin/sh\necho downloaded\n');
  execFileSync('tar', ['-czf', join(folder, ARCHIVE), '-C', folder, 'nats-server-v2.14.5']);
  return readFileSync(join(folder, ARCHIVE));
}

const sumOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

function target() {
  const cache = scratchFolder();
  const destination = join(cache, 'nats-server-2.14.5');
  const env = { PATH: process.env['PATH'] };
  return { cache, options: { env, toolsDir: cache, destination, onProgress: () => undefined } };
}

describe('a download', () => {
  test('that matches the published SHA-256 becomes the binary and leaves nothing else', async () => {
    const archive = packArchive();
    const { binary } = await publish({
      [ARCHIVE]: archive,
      SHA256SUMS: `${'0'.repeat(64)}  other.tar.gz\n${sumOf(archive)}  ${ARCHIVE}\n`,
    });
    const { cache, options } = target();
    expect(await downloadBinary(binary, options)).toEqual({ kind: 'done' });
    expect(readFileSync(options.destination, 'utf8')).toBe('#!/bin/sh\necho downloaded\n');
    expect(statSync(options.destination).mode & 0o777).toBe(0o755);
    expect(readdirSync(cache)).toEqual(['nats-server-2.14.5']);
  });

  test('that does not match is refused', async () => {
    const { binary } = await publish({
      [ARCHIVE]: packArchive(),
      SHA256SUMS: `${'0'.repeat(64)}  ${ARCHIVE}\n`,
    });
    const { cache, options } = target();
    expect(await downloadBinary(binary, options)).toEqual({
      kind: 'unavailable',
      reason: `the download of ${ARCHIVE} does not match its SHA-256`,
    });
    expect(readdirSync(cache)).toEqual([]);
  });

  test('without a published sum is not even begun', async () => {
    const { binary, requested } = await publish({
      [ARCHIVE]: packArchive(),
      SHA256SUMS: `${'0'.repeat(64)}  other.tar.gz\n`,
    });
    const { options } = target();
    expect(await downloadBinary(binary, options)).toEqual({
      kind: 'unavailable',
      reason: `the download failed: ${ARCHIVE} has no published SHA-256`,
    });
    expect(requested).toEqual(['SHA256SUMS']);
  });

  test('of an archive without the binary is refused', async () => {
    const archive = packArchive();
    const { binary } = await publish({ [ARCHIVE]: archive, SHA256SUMS: `${sumOf(archive)} *${ARCHIVE}\n` });
    const { cache, options } = target();
    expect(await downloadBinary({ ...binary, name: 'temporal' }, options)).toEqual({
      kind: 'unavailable',
      reason: `the download failed: ${ARCHIVE} holds no temporal`,
    });
    expect(readdirSync(cache)).toEqual([]);
  });

  test('from a release that is not there says so', async () => {
    const { binary } = await publish({});
    const { options } = target();
    expect(await downloadBinary(binary, options)).toEqual({
      kind: 'unavailable',
      reason: `the download failed: ${binary.release.url}/SHA256SUMS answered 404`,
    });
  });

  test('from a machine that nobody reaches gives way to the next source', async () => {
    const { binary, close } = await publish({});
    await close();
    const { options } = target();
    expect(await downloadBinary(binary, options)).toEqual({
      kind: 'unavailable',
      reason: 'the download failed: ECONNREFUSED',
    });
    expect(existsSync(options.destination)).toBe(false);
  });

  test('does not happen when downloads are off', async () => {
    const { binary, requested } = await publish({});
    const { options } = target();
    const env = { ...options.env, HOLDFAST_DOWNLOADS: 'off' };
    expect(await downloadBinary(binary, { ...options, env })).toEqual({
      kind: 'unavailable',
      reason: 'downloads are off',
    });
    expect(requested).toEqual([]);
  });
});
