import type { Env } from '@holdfast/config';
import { findOnPath } from './executables.ts';

/** A program and its arguments. */
export type CommandLine = { command: string; args: readonly string[] };

/**
 * Wraps a command so that the kernel signals it when the thread that spawned it ends, also by kill -9. Any change of
 * user or namespace must come before this wrapper, because the kernel forgets the request when credentials change.
 * Where `setpriv` is missing the command stays as it is, and the next start of the stack ends what was left over.
 */
export async function withDeathSignal(
  line: CommandLine,
  options: { signal: 'TERM' | 'INT'; env: Env },
): Promise<CommandLine> {
  const setpriv = await findOnPath('setpriv', options.env);
  if (setpriv === null) return line;
  return { command: setpriv, args: ['--pdeathsig', options.signal, '--', line.command, ...line.args] };
}
