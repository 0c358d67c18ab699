import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export type ProgramResult = {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
};

export type RunningProgram = {
  readonly pid: number;
  /** Resolves with the first line, of either stream, that contains the text; rejects when the program ends before. */
  waitForLine(text: string): Promise<string>;
  kill(signal: NodeJS.Signals): void;
  readonly result: Promise<ProgramResult>;
};

export type ProgramOptions = {
  env?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  input?: string;
};

/** Starts a program whose output is kept and watched. Its stdin holds `input` and is closed. */
export function startProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions = {},
): RunningProgram {
  const env = { ...options.env };
  const child = spawn(command, args, { env, cwd: options.cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const texts = { stdout: '', stderr: '' };
  const lines: string[] = [];
  const watchers = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8');
    child[name].on('data', (chunk: string) => (texts[name] += chunk));
    createInterface({ input: child[name] }).on('line', (line) => {
      lines.push(line);
      for (const watch of watchers) watch();
    });
  }
  const result = once(child, 'close').then(([code, signal]: unknown[]) => {
    for (const watch of watchers) watch();
    return { code: code as number | null, signal: signal as NodeJS.Signals | null, ...texts };
  });
  return {
    pid: child.pid ?? -1,
    kill: (signal) => child.kill(signal),
    result,
    waitForLine: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const line = lines.find((each) => each.includes(text));
          if (line === undefined && child.exitCode === null && child.signalCode === null) return;
          watchers.delete(look);
          if (line === undefined) reject(new Error(`the program ended without "${text}": ${texts.stderr}`));
          else resolve(line);
        };
        watchers.add(look);
        look();
      }),
  };
}
