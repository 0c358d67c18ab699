import { fstatSync } from 'node:fs';
import type { Output, PromptSource, Terminal } from './terminal.ts';

/** The terminal of the running process. A reader that went away (`| head`) ends the process quietly. */
export function createProcessTerminal(host: NodeJS.Process, options: { root: string }): Terminal {
  return {
    root: options.root,
    env: host.env,
    cwd: host.cwd(),
    stdin: toSource(host),
    stdout: toOutput(() => host.stdout, host),
    stderr: toOutput(() => host.stderr, host),
    onInterrupt: (listener) => {
      host.on('SIGINT', listener);
      return () => host.off('SIGINT', listener);
    },
  };
}

/** Node leaves `isTTY` out where there is no terminal. */
type Stream = Omit<NodeJS.WriteStream, 'isTTY'> & { isTTY?: boolean };

/** Opened on first use: each stream costs some milliseconds. */
function toOutput(open: () => Stream, host: NodeJS.Process): Output {
  let opened: Stream | undefined;
  const stream = (): Stream => {
    if (opened) return opened;
    opened = open();
    opened.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') host.exit();
    });
    return opened;
  };
  return {
    write: (text) => void stream().write(text),
    get isTTY() {
      return stream().isTTY ?? false;
    },
    get columns() {
      // A pseudo-terminal that nobody has sized says 0.
      return stream().columns || 80;
    },
  };
}

function toSource(host: NodeJS.Process): PromptSource {
  return {
    get isPiped() {
      return isPiped();
    },
    [Symbol.asyncIterator]: () => host.stdin[Symbol.asyncIterator](),
  };
}

/** A terminal and /dev/null are both character devices. */
function isPiped(): boolean {
  try {
    return !fstatSync(0).isCharacterDevice();
  } catch {
    return false;
  }
}
