// main.ts: the process that owns the commands of one machine, so that they survive the tool worker.
// Started by the tool worker with its options as JSON; says `ready` on file descriptor 3 when it can be connected to.
import { closeSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { tryLock, type KernelLock } from '@holdfast/kernel-lock';
import { watchLifetime, type Supervisor } from './lifetime.ts';
import { OutputPipes } from './output-pipes.ts';
import { ProcessHost } from './process-host.ts';
import { startServer, type HostServer } from './server.ts';

export type HostOptions = {
  stateDir: string;
  socketPath: string;
  pipesDir: string;
  orphanLimitMs: number;
  idleLimitMs: number;
  supervisor?: Supervisor;
};

const readyFd = 3;
const killGraceMs = 500;

const options = JSON.parse(process.argv[2] ?? '{}') as HostOptions;
const lock = tryLock(join(options.stateDir, 'process-host.lock'));
if (lock) await serve(lock);
// Somebody else serves this machine already.
else say('taken');

/** The lock is given back at the end only: an object that nobody refers to any more would give it back when it is collected. */
async function serve(held: KernelLock): Promise<void> {
  const pipes = new OutputPipes(options.pipesDir);
  const host = new ProcessHost({ stateDir: options.stateDir, pipes });
  const state: { server?: HostServer; ending?: Promise<void> } = {};
  const end = () => {
    // Whoever connects from now on is to start another host.
    state.server?.close();
    state.ending ??= host.close({ graceMs: killGraceMs }).then(() => {
      rmSync(options.socketPath, { force: true });
      held.release();
      process.exit(0);
    });
  };
  const setClients = watchLifetime({
    orphanLimitMs: options.orphanLimitMs,
    idleLimitMs: options.idleLimitMs,
    isBusy: () => host.isBusy,
    ...(options.supervisor ? { supervisor: options.supervisor } : {}),
    onEnd: (reason) => {
      process.stderr.write(`process host ends: ${reason}\n`);
      end();
    },
  });
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  process.on('SIGHUP', () => undefined);
  await host.recover();
  state.server = await startServer({ host, path: options.socketPath, onClients: setClients, onStop: end });
  say('ready');
}

function say(word: string): void {
  try {
    writeSync(readyFd, `${word}\n`);
    closeSync(readyFd);
  } catch {
    // Nobody waits for it.
  }
}
