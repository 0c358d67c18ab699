import { basename } from 'node:path';
import type { ShellArguments } from './spec.ts';

const shells = new Set(['bash', 'sh', 'zsh']);
/** As long as a command may be waited for. */
const yieldMs = 30_000;

/** The arguments of the call of `exec_command` that does the same. A script for a shell stays a script; everything else is quoted. */
export function toExecArguments({ command, workdir, timeout_ms }: ShellArguments): Record<string, unknown> {
  const rest = {
    yield_time_ms: yieldMs,
    ...(workdir === undefined ? {} : { workdir }),
    ...(timeout_ms === undefined ? {} : { timeout_ms }),
  };
  const [program = '', flag, script, ...others] = command;
  const isScript = shells.has(basename(program)) && (flag === '-lc' || flag === '-c') && others.length === 0;
  if (!isScript || !script) return { cmd: command.map(quote).join(' '), login: false, ...rest };
  return { cmd: script, login: flag === '-lc', shell: program, ...rest };
}

/** One word for a POSIX shell. */
function quote(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
