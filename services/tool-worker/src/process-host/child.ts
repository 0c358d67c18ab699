// child.ts: a command as its host sees it, whether it has pipes or a terminal.
import type { TerminalSize } from './protocol.ts';

export type ChildExit = { code: number | null; signal: string | null };

export type ChildEvents = {
  onOutput(chunk: Buffer): void;
  /** Everything that has its output open has closed it. */
  onOutputEnd(): void;
  /** Once; not after `onError`. Output may still come. */
  onExit(exit: ChildExit): void;
  /** It could not be started. */
  onError(error: Error): void;
};

export type Child = {
  /** Leader of its own session; undefined when it could not be started. */
  pid: number | undefined;
  /** Only with a terminal. */
  terminal?: {
    write(text: string): void;
    resize(size: TerminalSize): void;
  };
};
