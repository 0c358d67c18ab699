import type { Output } from '../terminal.ts';

/** Lines that stay, and at most one line below them that shows what goes on right now. */
export type ProgressWriter = {
  print(lines: readonly string[]): void;
  /** Replaces the live line; nothing happens where lines cannot be overwritten. */
  show(status: string): void;
  /** Removes the live line. */
  clear(): void;
};

const eraseLine = '\r\u001B[K';

/** `live`: the output is a terminal that understands cursor movements. */
export function createProgressWriter(output: Output, options: { live: boolean }): ProgressWriter {
  let shown = '';
  const clear = (): void => {
    if (shown !== '') output.write(eraseLine);
    shown = '';
  };
  return {
    print(lines) {
      if (lines.length === 0) return;
      clear();
      output.write(lines.map((line) => `${line}\n`).join(''));
    },
    show(status) {
      const line = cut(status, output.columns - 1);
      if (!options.live || line === shown) return;
      clear();
      output.write(line);
      shown = line;
    },
    clear,
  };
}

/** A line that wraps could not be erased. */
function cut(line: string, limit: number): string {
  const characters = Array.from(line);
  return characters.length > limit ? `${characters.slice(0, Math.max(0, limit - 1)).join('')}…` : line;
}
