// output-pipes.ts: real pipes for the output of commands, one for stdout and stderr together, so that their order is kept and
// /dev/stdout and /dev/stderr can be opened by name. Node's own child pipes are sockets, which cannot.
// They are named pipes made ahead in one go, and used again when every writer has closed.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';

const batch = 32;

export type OutputPipe = {
  /** Paused until it gets a `data` listener; ends when the last process that holds the writing end has closed it. */
  reader: Socket;
  /** To be given to the child as stdout and stderr, and to be closed here right after. */
  writer: number;
  /** Closes the reader. The pipe is used again when it was read to its end. */
  release(options: { ended: boolean }): void;
};

export class OutputPipes {
  readonly #folder: string;
  readonly #free: string[] = [];
  #made = 0;

  /** Replaces what an earlier process left in the folder. */
  constructor(folder: string) {
    this.#folder = folder;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#makeMore();
  }

  /** @throws Error when files cannot be opened or pipes cannot be made any more */
  open(): OutputPipe {
    if (this.#free.length === 0) this.#makeMore();
    const path = this.#free.pop() ?? '';
    // Without O_NONBLOCK the first end to open would wait for the second.
    const readerFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, constants.O_WRONLY);
    const reader = new Socket({ fd: readerFd, readable: true, writable: false });
    reader.on('error', () => reader.destroy());
    const release = ({ ended }: { ended: boolean }) => {
      reader.destroy();
      if (ended) this.#free.push(path);
    };
    return { reader, writer, release };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #makeMore(): void {
    const paths = Array.from({ length: batch }, (_, index) => join(this.#folder, String(this.#made + index)));
    execFileSync('mkfifo', ['-m', '600', ...paths]);
    this.#made += batch;
    this.#free.push(...paths);
  }
}

export function closeWriter(pipe: OutputPipe): void {
  closeSync(pipe.writer);
}
