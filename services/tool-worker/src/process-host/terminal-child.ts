import { createRequire } from 'node:module';
import { constants } from 'node:os';
import type * as Pty from '@lydell/node-pty';
import type { Child, ChildEvents } from './child.ts';
import type { ProcessSpec, TerminalSize } from './protocol.ts';
import { holdTerminal, toShieldedCommand } from './terminal-descriptors.ts';

const require = createRequire(import.meta.url);
const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** Spawns on a terminal of its own. The library is loaded with the first one. @throws Error when nothing can be spawned */
export function spawnOnTerminal(
  spec: ProcessSpec,
  { columns, rows }: TerminalSize,
  events: ChildEvents,
): Child {
  const { spawn } = require('@lydell/node-pty') as typeof Pty;
  const [command, args] = toShieldedCommand(spec.command, spec.args);
  const child = spawn(command, args, {
    name: spec.env['TERM'] ?? 'dumb',
    cols: columns,
    rows,
    cwd: spec.cwd,
    env: spec.env,
    encoding: null,
  });
  const release = holdTerminal((child as unknown as { fd: number }).fd);
  const state = { ended: false };
  child.onData((chunk: string | Buffer) => events.onOutput(Buffer.from(chunk as Buffer)));
  child.onExit(({ exitCode, signal }) => {
    state.ended = true;
    release();
    events.onOutputEnd();
    const name = signal ? signalNames.get(signal) : undefined;
    events.onExit(name === undefined ? { code: exitCode, signal: null } : { code: null, signal: name });
  });
  return {
    pid: child.pid,
    terminal: {
      write: (text) => {
        if (!state.ended) child.write(text);
      },
      resize: (size) => {
        if (!state.ended) child.resize(size.columns, size.rows);
      },
    },
  };
}
