import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findBinary } from '../src/binaries/find-binary.ts';
import { natsServerBinary, temporalBinary } from '../src/binaries/pinned.ts';
import { scratchFolder } from './fixtures/scratch.ts';

function writeProgram(file: string, script: string): string {
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

/** A machine with nothing on it but what the test puts into `bin`. */
function emptyMachine() {
  const folder = scratchFolder();
  const [bin, cacheDir, toolsDir] = [join(folder, 'bin'), join(folder, 'cache'), join(folder, 'tools')];
  for (const each of [bin, toolsDir]) mkdirSync(each);
  const progress: string[] = [];
  return {
    bin,
    cached: join(cacheDir, 'bin'),
    progress,
    options: {
      env: { PATH: bin, HOLDFAST_DOWNLOADS: 'off' } as Record<string, string>,
      cacheDir,
      toolsDir,
      onProgress: (line: string) => void progress.push(line),
    },
  };
}

/** A Go that writes down how it was called and makes a program that prints its version. */
const fakeGo = (log: string): string => `
echo "$PWD $CGO_ENABLED $*" >> ${log}
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\necho built\\n' > "$2"`;

describe('a server binary', () => {
  test('is the one its environment variable names, whatever its version', async () => {
    const { bin, options } = emptyMachine();
    writeProgram(join(bin, 'temporal'), 'echo temporal version 1.8.2');
    const mine = writeProgram(join(bin, 'mine'), 'echo 0.1.0');
    const env = { ...options.env, HOLDFAST_TEMPORAL_BIN: mine };
    expect(await findBinary(temporalBinary, { ...options, env })).toBe(mine);
  });

  test('is not looked for elsewhere when its variable is wrong', async () => {
    const { bin, options } = emptyMachine();
    const env = { ...options.env, HOLDFAST_TEMPORAL_BIN: join(bin, 'nothing') };
    await expect(findBinary(temporalBinary, { ...options, env })).rejects.toMatchObject({
      code: 'stack.binary-missing',
      message: `HOLDFAST_TEMPORAL_BIN=${bin}/nothing is not an executable file: correct it or unset it.`,
    });
  });

  test.each([
    [temporalBinary, 'temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)'],
    [natsServerBinary, 'nats-server: v2.9.10'],
    [natsServerBinary, 'nats-server: v2.14.5'],
    [natsServerBinary, 'nats-server: v3.0.0'],
  ])('comes from PATH when the version will do: %#', async (binary, version) => {
    const { bin, options } = emptyMachine();
    const installed = writeProgram(join(bin, binary.name), `echo '${version}'`);
    expect(await findBinary(binary, options)).toBe(installed);
  });

  test.each([
    [temporalBinary, 'temporal version 1.8.1 (Server 1.31.1, UI 2.50.0)'],
    [temporalBinary, 'temporal version 1.8.2-rc.1 (Server 1.31.2, UI 2.50.1)'],
    [natsServerBinary, 'nats-server: v2.8.4'],
    [natsServerBinary, 'no version at all'],
  ])('comes from the cache when the one on PATH will not do: %#', async (binary, version) => {
    const { bin, cached, options } = emptyMachine();
    writeProgram(join(bin, binary.name), `echo '${version}'`);
    mkdirSync(cached, { recursive: true });
    const kept = writeProgram(join(cached, `${binary.name}-${binary.version}`), 'echo cached');
    expect(await findBinary(binary, options)).toBe(kept);
  });

  test('is built with Go once for two who need it at once', async () => {
    const { bin, cached, progress, options } = emptyMachine();
    const log = join(bin, 'go.log');
    writeProgram(join(bin, 'go'), fakeGo(log));
    const found = await Promise.all([
      findBinary(temporalBinary, options),
      findBinary(temporalBinary, options),
    ]);
    const file = join(cached, 'temporal-1.8.2');
    expect(found).toEqual([file, file]);
    expect(readFileSync(file, 'utf8')).toContain('echo built');
    expect(readFileSync(log, 'utf8')).toBe(
      `${options.toolsDir} 0 build -trimpath -ldflags -s -w -X github.com/temporalio/cli/internal/temporalcli.Version=1.8.2 ` +
        `-o ${file}.build-${process.pid} github.com/temporalio/cli/cmd/temporal\n`,
    );
    expect(progress).toEqual(['building temporal 1.8.2 with Go (once, about 4 minutes)…']);
    expect(readdirSync(cached).toSorted()).toEqual(['temporal-1.8.2', 'temporal-1.8.2.lock']);
  });

  test('that nothing can provide is a failure that names every way and what to install', async () => {
    const { bin, cached, options } = emptyMachine();
    writeProgram(join(bin, 'go'), 'echo "go: no such tool chain" >&2; exit 1');
    await expect(findBinary(natsServerBinary, options)).rejects.toMatchObject({
      code: 'stack.binary-missing',
      message:
        'nats-server 2.14.5 was not found (downloads are off; the build with Go failed: go: no such tool chain): ' +
        'install nats-server 2.9 or newer, install Go so that it can be built, or set NATS_URL to a running server.',
    });
    expect(existsSync(join(cached, 'nats-server-2.14.5'))).toBe(false);
  });
});
