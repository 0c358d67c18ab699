// Postgres refuses to run as root. Root is common in containers, so there are two ways around it, tried in this order:
// a user namespace in which root is somebody else, or another user who keeps one capability, so that folders which only
// root may enter stay usable.
import { readFileSync } from 'node:fs';
import type { Env } from '@holdfast/config';
import type { CommandLine } from '../death-signal.ts';
import { run } from '../executables.ts';
import { StackError, stackCodes } from '../stack-error.ts';

/** How the Postgres programs are started, and who owns their files on disk. */
export type PostgresAccount = { prefix: readonly string[]; uid: number; gid: number };

const USER_NAMESPACE = ['unshare', '--user', '--map-user=1000', '--map-group=1000'] as const;
const PROBE_TIMEOUT_MS = 5_000;

/** The account for this process. Throws `stack.start-failed` for a root that may not become anybody else. */
export async function choosePostgresAccount(env: Env): Promise<PostgresAccount> {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  if (uid !== 0) return { prefix: [], uid, gid };
  if (await works(USER_NAMESPACE, env)) return { prefix: USER_NAMESPACE, uid, gid };
  const other = demotedAccount();
  if (await works(other.prefix, env)) return other;
  throw new StackError(
    stackCodes.startFailed,
    'Postgres does not run as root, and neither `unshare --user` nor `setpriv` works here: start Holdfast as another user, or set DATABASE_URL to a running Postgres.',
  );
}

/** The command as the account runs it. */
export function asAccount({ prefix }: PostgresAccount, line: CommandLine): CommandLine {
  const [command, ...args] = prefix;
  return command === undefined ? line : { command, args: [...args, line.command, ...line.args] };
}

/** The account that replaces root where user namespaces are forbidden. */
export function demotedAccount(): PostgresAccount {
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const fields = users.find((line) => line.startsWith('postgres:'))?.split(':') ?? [];
  const { uid, gid } = { uid: Number(fields[2] ?? 65_534), gid: Number(fields[3] ?? 65_534) };
  const capability = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
  return {
    prefix: ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...capability],
    uid,
    gid,
  };
}

async function works(prefix: readonly string[], env: Env): Promise<boolean> {
  const { command, args } = asAccount({ prefix, uid: 0, gid: 0 }, { command: 'true', args: [] });
  return (await run(command, args, { env, timeoutMs: PROBE_TIMEOUT_MS })).ok;
}
