// terminal.ts: what a command gets from the process it runs in. Commands touch no globals, so that tests give them their own.
import type { Env } from '@holdfast/config';

export type Output = {
  write(text: string): void;
  readonly isTTY: boolean;
  /** Characters in a line; 80 where nobody knows. */
  readonly columns: number;
};

export type PromptSource = AsyncIterable<Uint8Array | string> & {
  /** False for a terminal, where a person types commands and no prompt, for /dev/null and for a closed stdin. */
  readonly isPiped: boolean;
};

export type Terminal = {
  /** Folder of the checkout. */
  readonly root: string;
  readonly env: Env;
  readonly cwd: string;
  readonly stdin: PromptSource;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Calls back for every Ctrl-C until the returned function is called; meanwhile Ctrl-C does not end the process. */
  onInterrupt(listener: () => void): () => void;
};

/** One line for the person who watches; stdout belongs to the result. */
export function note(terminal: Pick<Terminal, 'stderr'>, line: string): void {
  terminal.stderr.write(`${line}\n`);
}

/** Colours and lines that overwrite themselves only where a person looks at a terminal that can show them. */
export function isLive(output: Output, env: Env): boolean {
  return output.isTTY && !env['CI'] && env['TERM'] !== 'dumb';
}

/** https://no-color.org: any value but the empty one switches colours off. */
export function hasColor(output: Output, env: Env): boolean {
  return isLive(output, env) && !env['NO_COLOR'];
}
