import type { Env } from '@holdfast/config';
import type { Terminal } from '../src/terminal.ts';

export type TestTerminal = Terminal & {
  /** What was written so far. */
  text: { stdout: string; stderr: string };
  /** Presses Ctrl-C; false when nobody listens, which would end a real process. */
  pressInterrupt(): boolean;
};

/** A terminal that keeps what is written to it. `stdin` is piped when it is given. */
export function createTestTerminal(
  options: { root?: string; env?: Env; cwd?: string; stdin?: string; live?: boolean } = {},
): TestTerminal {
  const text = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  const toOutput = (name: 'stdout' | 'stderr') => ({
    write: (piece: string) => {
      text[name] += piece;
    },
    isTTY: options.live === true,
    columns: 80,
  });
  return {
    root: options.root ?? '/checkout',
    env: options.env ?? {},
    cwd: options.cwd ?? '/work',
    stdin: {
      isPiped: options.stdin !== undefined,
      async *[Symbol.asyncIterator]() {
        yield options.stdin ?? '';
      },
    },
    stdout: toOutput('stdout'),
    stderr: toOutput('stderr'),
    onInterrupt: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    text,
    pressInterrupt: () => {
      for (const listener of listeners) listener();
      return listeners.size > 0;
    },
  };
}
