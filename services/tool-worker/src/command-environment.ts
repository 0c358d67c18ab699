// command-environment.ts: what commands see of the environment: the person's login environment, without Holdfast's own secrets, and with
// settings that keep programs from paging, colouring and asking.
import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

type Environment = Record<string, string>;

export type CommandEnvironment = {
  /** The default shell, an absolute path where one was found. */
  shell: string;
  /** What this process was started with. */
  plain: Environment;
  /** What a login shell would have; captured in the background, and again when a profile has changed. Falls back to `plain`. Never rejects. */
  login: () => Promise<Environment>;
};

const forced: Environment = {
  NO_COLOR: '1',
  TERM: 'dumb',
  LANG: 'C.UTF-8',
  LC_CTYPE: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
  COLORTERM: '',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GH_PAGER: 'cat',
  HOLDFAST_CI: '1',
};

/** Addresses, secrets and caches of Holdfast's own parts. */
const withheld = /^(HOLDFAST_.*|TEMPORAL_.*|OPENAI_API_KEY|DATABASE_URL|NATS_URL|NODE_COMPILE_CACHE)$/;
/** True of the shell that is asked, not of the environment. */
const ofTheShell = new Set(['_', 'SHLVL', 'PWD', 'OLDPWD']);

/** A profile that takes longer is given up on. */
const captureLimitMs = 10_000;

export function createCommandEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): CommandEnvironment {
  const base = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const shell = findShell(base);
  const plain = toCommandEnvironment(base);
  const capture = () => captureLogin(shell, toAllowed(base)).then(toCommandEnvironment, () => plain);
  const profiles = toProfiles(base['HOME'] ?? homedir());
  let version = toVersion(profiles);
  let login = capture();
  return {
    shell,
    plain,
    login: () => {
      const current = toVersion(profiles);
      if (current !== version) {
        version = current;
        login = capture();
      }
      return login;
    },
  };
}

/** What a login shell of bash reads, directly or by the usual profile. */
function toProfiles(home: string): string[] {
  const own = ['.bash_profile', '.bash_login', '.profile', '.bashrc'].map((name) => join(home, name));
  return ['/etc/profile', '/etc/profile.d', '/etc/bash.bashrc', ...own];
}

/** Changes when one of the files is written, replaced, made or removed. */
function toVersion(files: readonly string[]): string {
  return files.map(toFileVersion).join(' ');
}

function toFileVersion(file: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(file, { bigint: true });
    return `${ino}:${size}:${mtimeNs}`;
  } catch {
    return '-';
  }
}

/** Without what is withheld, with what is forced. */
function toCommandEnvironment(env: Environment): Environment {
  return { ...toAllowed(env), ...forced };
}

function toAllowed(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !withheld.test(name)));
}

function findShell(env: Environment): string {
  const folders = (env['PATH'] ?? '/usr/bin:/bin').split(delimiter);
  return folders.map((folder) => join(folder, 'bash')).find(isExecutable) ?? '/bin/sh';
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The environment comes on a channel of its own, because profiles print. */
async function captureLogin(shell: string, env: Environment): Promise<Environment> {
  const child = spawn(shell, ['-lc', 'env -0 >&3'], {
    env,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const chunks: Buffer[] = [];
  child.stdio[3]?.on('data', (chunk: Buffer) => chunks.push(chunk));
  const timer = setTimeout(() => child.kill('SIGKILL'), captureLimitMs);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (code !== 0) throw new Error(`the login shell ended with code ${code}`);
  } finally {
    clearTimeout(timer);
  }
  return parseEnvironment(Buffer.concat(chunks).toString('utf8'));
}

function parseEnvironment(text: string): Environment {
  const pairs = text.split('\0').flatMap((pair) => {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at);
    return at > 0 && !ofTheShell.has(name) ? [[name, pair.slice(at + 1)] as const] : [];
  });
  return Object.fromEntries(pairs);
}
