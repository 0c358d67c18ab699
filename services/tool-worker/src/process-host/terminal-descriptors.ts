// terminal-descriptors.ts: keeps commands from inheriting the terminals of other commands. The PTY library does not mark its ends as
// closed on exec, so every command that starts later would hold, and could read and type into, each terminal that is open.
import { openSync } from 'node:fs';

type Descriptor = number | 'ignore';

const open = new Set<number>();
let devNull: number | undefined;

/** @returns to be called when the descriptor has been closed */
export function holdTerminal(descriptor: number): () => void {
  open.add(descriptor);
  return () => open.delete(descriptor);
}

/** For the child, the descriptors of open terminals become /dev/null. */
export function toShieldedStdio(stdio: Descriptor[]): Descriptor[] {
  if (open.size === 0) return stdio;
  devNull ??= openSync('/dev/null', 'r+');
  const last = Math.max(stdio.length - 1, ...open);
  return Array.from({ length: last + 1 }, (_, index) => {
    const own = stdio[index];
    if (own !== undefined) return own;
    return open.has(index) ? (devNull ?? 'ignore') : 'ignore';
  });
}

/** A command that closes the descriptors of open terminals and then becomes the given one; needs bash. */
export function toShieldedCommand(command: string, args: string[]): [string, string[]] {
  if (open.size === 0) return [command, args];
  const closing = [...open].map((descriptor) => `${descriptor}>&-`).join(' ');
  return ['bash', ['-c', `exec ${closing}; exec "$0" "$@"`, command, ...args]];
}
