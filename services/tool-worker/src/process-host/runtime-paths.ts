// runtime-paths.ts: where the socket of a machine's process host is: short, because the kernel takes at most 107 bytes, in a folder
// that belongs to this user alone, and derived from the state folder, so that every tool worker of the machine finds it.
import { hash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const socketPathLimit = 107;

export type RuntimePaths = { socketPath: string; pipesDir: string };

/**
 * Creates the folder. @throws Error when it belongs to somebody else
 * @param runtimeDir the user's own folder for sockets (XDG_RUNTIME_DIR), where there is one
 */
export function toRuntimePaths(options: { stateDir: string; runtimeDir?: string }): RuntimePaths {
  const name = hash('sha256', options.stateDir).slice(0, 16);
  const uid = process.getuid?.() ?? 0;
  const bases = [options.runtimeDir, tmpdir(), '/tmp'].filter((base) => base !== undefined);
  const folders = bases.map((base) => join(base, `holdfast-${uid}`));
  const folder = folders.find(
    (candidate) => Buffer.byteLength(join(candidate, `${name}.sock`)) <= socketPathLimit,
  );
  if (folder === undefined) throw new Error('no folder for sockets has a path that is short enough');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid: owner, mode } = lstatSync(folder);
  if (owner !== uid || (mode & 0o077) !== 0) {
    throw new Error(`the folder ${folder} must belong to you alone: remove it or set its mode to 0700`);
  }
  return { socketPath: join(folder, `${name}.sock`), pipesDir: join(folder, `${name}.pipes`) };
}
