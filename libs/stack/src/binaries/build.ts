import { chmod, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { withDeathSignal } from '../death-signal.ts';
import { findOnPath, isExecutable, run } from '../executables.ts';
import type { ObtainOptions, Obtained } from './obtained.ts';
import type { PinnedBinary } from './pinned.ts';

// Where Go's own installer puts it, which is often missing from PATH in non-login shells.
const GO_INSTALL_DEFAULT = '/usr/local/go/bin/go';

/** Builds the binary in the tools module with Go, at a temporary name that is then renamed to the destination. */
export async function buildBinary(binary: PinnedBinary, options: ObtainOptions): Promise<Obtained> {
  const { env, toolsDir, destination, onProgress, signal } = options;
  const go =
    (await findOnPath('go', env)) ?? ((await isExecutable(GO_INSTALL_DEFAULT)) ? GO_INSTALL_DEFAULT : null);
  if (go === null) return { kind: 'unavailable', reason: 'Go is not installed' };
  onProgress(`building ${binary.name} ${binary.version} with Go (once, ${binary.buildTime})…`);
  await removeLeftovers(destination);
  const temporary = `${destination}.build-${process.pid}`;
  const args = ['build', '-trimpath', '-ldflags', binary.linkerFlags, '-o', temporary, binary.goPackage];
  try {
    const line = await withDeathSignal({ command: go, args }, { signal: 'INT', env });
    const built = await run(line.command, line.args, {
      cwd: toolsDir,
      env: { ...env, CGO_ENABLED: '0', GOWORK: 'off' },
      ...(signal && { signal }),
    });
    if (!built.ok)
      return { kind: 'unavailable', reason: `the build with Go failed: ${lastLine(built.stderr)}` };
    await chmod(temporary, 0o755);
    await rename(temporary, destination);
    return { kind: 'done' };
  } finally {
    await rm(temporary, { force: true });
  }
}

/** What builds that were killed left beside the destination; the caller holds the lock, so none is running. */
async function removeLeftovers(destination: string): Promise<void> {
  const prefix = `${basename(destination)}.build-`;
  for (const entry of await readdir(dirname(destination))) {
    if (entry.startsWith(prefix)) await rm(join(dirname(destination), entry), { force: true });
  }
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
