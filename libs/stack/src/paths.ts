import { createHash } from 'node:crypto';
import { access, constants, mkdir } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Env } from '@holdfast/config';
import { StackError, stackCodes, systemReason } from './stack-error.ts';

/** Every place the stack of one checkout and one state folder uses. All paths are absolute. */
export type StackPaths = {
  readonly root: string;
  readonly toolsDir: string;
  readonly stateDir: string;
  readonly cacheDir: string;
  readonly logsDir: string;
  readonly workersDir: string;
  readonly secretsFile: string;
  readonly portsFile: string;
  readonly recordFile: string;
  readonly stackFile: string;
  readonly failureFile: string;
  readonly lockFile: string;
  /** Where the control socket may be, best first; the record says where it is. */
  readonly controlSocketCandidates: readonly string[];
};

// The kernel refuses longer names for unix sockets (sun_path is 108 bytes with its terminating zero).
const SOCKET_PATH_MAX_BYTES = 107;

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

// The XDG specification tells programs to ignore relative values.
const absoluteOr = (value: string | undefined, fallback: string): string =>
  value !== undefined && isAbsolute(value) ? value : fallback;

/**
 * Names the folders of the stack that belongs to the checkout at `root`. Pure: nothing is created or read.
 * Two checkouts, or two values of HOLDFAST_STATE_DIR, never share a state folder or a control socket.
 */
export function resolvePaths({ root, env }: { root: string; env: Env }): StackPaths {
  const home = absoluteOr(env['HOME'], homedir());
  const checkout = resolve(root);
  const stateHome = absoluteOr(env['XDG_STATE_HOME'], join(home, '.local', 'state'));
  const configured = env['HOLDFAST_STATE_DIR'];
  const stateDir = configured ? resolve(configured) : join(stateHome, 'holdfast', shortHash(checkout));
  return {
    root: checkout,
    toolsDir: join(checkout, 'tools'),
    stateDir,
    cacheDir: join(absoluteOr(env['XDG_CACHE_HOME'], join(home, '.cache')), 'holdfast'),
    logsDir: join(stateDir, 'logs'),
    workersDir: join(stateDir, 'workers'),
    secretsFile: join(stateDir, 'secrets.json'),
    portsFile: join(stateDir, 'ports.json'),
    recordFile: join(stateDir, 'pids.json'),
    stackFile: join(stateDir, 'stack.json'),
    failureFile: join(stateDir, 'failure.json'),
    lockFile: join(stateDir, 'supervisor.lock'),
    controlSocketCandidates: controlSocketCandidates(stateDir, env),
  };
}

function controlSocketCandidates(stateDir: string, env: Env): string[] {
  const owner = `holdfast-${process.getuid?.() ?? 'user'}`;
  const folders = [
    ...(env['XDG_RUNTIME_DIR'] ? [join(absoluteOr(env['XDG_RUNTIME_DIR'], '/nonexistent'), 'holdfast')] : []),
    join(absoluteOr(env['TMPDIR'], tmpdir()), owner),
    join('/tmp', owner),
  ];
  return folders
    .map((folder) => join(folder, `${shortHash(stateDir)}.sock`))
    .filter((path) => Buffer.byteLength(path) <= SOCKET_PATH_MAX_BYTES);
}

/**
 * Creates the state folder and its subfolders, readable by their owner only. Idempotent.
 * Throws `stack.state-unreadable` when the folder cannot be created, read or written.
 */
export async function ensureStateFolders(paths: StackPaths): Promise<void> {
  try {
    for (const folder of [paths.stateDir, paths.logsDir, paths.workersDir]) {
      await makeFolder(folder);
      await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    }
  } catch (error) {
    throw toUnusable(paths, error);
  }
}

/**
 * Looks whether the state folder can be used, and creates nothing: a folder that does not exist yet can be.
 * Throws `stack.state-unreadable` for one that cannot be read and written, or that something else is in the way of.
 */
export async function assertStateFolderUsable(paths: StackPaths): Promise<void> {
  try {
    // The slash makes a file of that name an error.
    await access(`${paths.stateDir}/`, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (systemReason(error) !== 'ENOENT') throw toUnusable(paths, error);
  }
}

function toUnusable({ stateDir }: StackPaths, error: unknown): StackError {
  return new StackError(
    stackCodes.stateUnreadable,
    `The state folder ${stateDir} cannot be read and written (${systemReason(error)}): repair its permissions or set HOLDFAST_STATE_DIR to another folder.`,
    { cause: error },
  );
}

/** Not with `recursive`, which never returns for a folder below /proc. */
async function makeFolder(folder: string): Promise<void> {
  const make = (): Promise<void> => mkdir(folder, { mode: 0o700 }).catch(ignoreExisting);
  try {
    await make();
  } catch (error) {
    if (systemReason(error) !== 'ENOENT' || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder));
    await make();
  }
}

function ignoreExisting(error: unknown): void {
  if (systemReason(error) !== 'EEXIST') throw error;
}
