import { spawn } from 'node:child_process';
import type { Child, ChildEvents } from './child.ts';
import { closeWriter, type OutputPipe } from './output-pipes.ts';
import type { ProcessSpec } from './protocol.ts';
import { toShieldedStdio } from './terminal-descriptors.ts';

/** Spawns with one pipe for stdout and stderr, and a closed stdin. @throws Error when nothing can be spawned */
export function spawnPiped(spec: ProcessSpec, pipe: OutputPipe, events: ChildEvents): Child {
  const { command, args, cwd, env } = spec;
  const stdio = toShieldedStdio(['ignore', pipe.writer, pipe.writer]);
  const child = spawn(command, args, { cwd, env, detached: true, stdio });
  closeWriter(pipe);
  let outputEnded = false;
  pipe.reader.on('data', (chunk) => events.onOutput(chunk));
  pipe.reader.once('end', () => {
    outputEnded = true;
    events.onOutputEnd();
  });
  pipe.reader.once('close', () => pipe.release({ ended: outputEnded }));
  child.once('error', (error) => events.onError(error));
  child.once('exit', (code, signal) => events.onExit({ code, signal }));
  return { pid: child.pid };
}
