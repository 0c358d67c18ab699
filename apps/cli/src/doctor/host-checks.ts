// host-checks.ts: the machine itself: Node, folders, disk, programs. Works while nothing of Holdfast runs.
import { constants } from 'node:fs';
import { access, readdir, statfs } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import type { Env } from '@holdfast/config';
import type { StackPaths } from '@holdfast/stack';
import { failed, ok, type Check } from './check.ts';

/** The first line that strips types without a flag and has a lasting `node:sqlite`. */
const oldestNode = 24;
/** Below this, Postgres and NATS stop taking data soon. */
const leastFreeBytes = 1024 ** 3;

export async function checkHost(options: {
  paths: StackPaths;
  env: Env;
  nodeVersion: string;
}): Promise<Check[]> {
  const { paths, env, nodeVersion } = options;
  return [
    checkNode(nodeVersion),
    await checkState(paths),
    await checkDisk(paths),
    await checkProgram('git', env, 'install git; agents and the demo use it'),
    ...(await checkServers(paths, env)),
  ];
}

function checkNode(version: string): Check {
  const major = Number(version.split('.')[0]);
  if (major >= oldestNode) return ok('node', version);
  return failed(
    'node',
    `${version} is too old`,
    'run `npm ci` in the checkout, which installs the pinned Node',
  );
}

async function checkState({ stateDir }: StackPaths): Promise<Check> {
  const folder = await nearestFolder(stateDir);
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return ok('state folder', stateDir);
  } catch {
    const fix = 'repair its permissions or set HOLDFAST_STATE_DIR to another folder';
    return failed('state folder', `${folder} cannot be read and written`, fix);
  }
}

async function checkDisk({ stateDir }: StackPaths): Promise<Check> {
  const { bavail, bsize } = await statfs(await nearestFolder(stateDir));
  const free = bavail * bsize;
  const detail = `${(free / 1024 ** 3).toFixed(1)} GiB free`;
  if (free >= leastFreeBytes) return ok('disk', detail);
  return failed('disk', detail, `free some space on the file system of ${stateDir}`);
}

/** The folder itself, or the first of its parents that exists. */
async function nearestFolder(folder: string): Promise<string> {
  const exists = await access(folder).then(
    () => true,
    () => false,
  );
  return exists || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}

async function checkProgram(name: string, env: Env, fix: string): Promise<Check> {
  const found = await findProgram(name, env);
  return found === undefined ? failed(name, 'is not on the PATH', fix) : ok(name, found);
}

async function findProgram(name: string, env: Env): Promise<string | undefined> {
  for (const folder of (env['PATH'] ?? '').split(delimiter).filter((entry) => entry !== '')) {
    const file = join(folder, name);
    const executable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (executable) return file;
  }
  return undefined;
}

const servers = [
  { program: 'temporal', external: 'TEMPORAL_ADDRESS', variable: 'HOLDFAST_TEMPORAL_BIN' },
  { program: 'nats-server', external: 'NATS_URL', variable: 'HOLDFAST_NATS_SERVER_BIN' },
];

/** A server that is not there yet is fetched or built by the first start; only the means for that may be missing. */
async function checkServers(paths: StackPaths, env: Env): Promise<Check[]> {
  const cached = await readdir(join(paths.cacheDir, 'bin')).catch(() => []);
  return Promise.all(
    servers.map(async ({ program, external, variable }) => {
      if (env[external]) return ok(program, `${external} names a server elsewhere`);
      const known =
        env[variable] || cached.find((name) => name.startsWith(`${program}-`) && !name.endsWith('.lock'));
      return ok(
        program,
        known ||
          ((await findProgram(program, env)) ?? 'not here yet; the next `holdfast up` fetches or builds it'),
      );
    }),
  );
}
