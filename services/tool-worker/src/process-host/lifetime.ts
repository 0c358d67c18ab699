// lifetime.ts: when a process host ends by itself. It outlives its tool worker, never for ever, and never its supervisor.
import { readProcess } from './process-table.ts';

/** The process that started the tool worker; a pid alone could be somebody else's by now. */
export type Supervisor = { pid: number; startTime: string };

export type LifetimeOptions = {
  supervisor?: Supervisor;
  /** How long it waits for a tool worker while commands run, and while none does. */
  orphanLimitMs: number;
  idleLimitMs: number;
  /** True while commands run. */
  isBusy: () => boolean;
  /** Called once. */
  onEnd: (reason: string) => void;
};

const supervisorPollMs = 500;
const orphanPollMs = 100;

/**
 * With a supervisor, stdin is the pipe it holds open for the tool worker. Its end is a hint only: a supervisor also closes the pipe
 * when just the worker dies. So the end of the pipe makes it look for the supervisor, at once and then again and again.
 * @returns tells the lifetime how many tool workers are connected
 */
export function watchLifetime(options: LifetimeOptions): (clients: number) => void {
  const { supervisor, onEnd } = options;
  let orphaned: NodeJS.Timeout | undefined;
  let watching: NodeJS.Timeout | undefined;
  const check = () => {
    if (!supervisor || readProcess(supervisor.pid)?.startTime === supervisor.startTime) return;
    clearInterval(watching);
    onEnd('the supervisor is gone');
  };
  if (supervisor) {
    const closed = () => {
      watching ??= setInterval(check, supervisorPollMs);
      check();
    };
    process.stdin.once('end', closed).once('error', closed).resume();
  }
  const setClients = (count: number) => {
    clearInterval(orphaned);
    orphaned = count > 0 ? undefined : watchOrphan(options, performance.now());
  };
  setClients(0);
  return setClients;
}

function watchOrphan(options: LifetimeOptions, since: number): NodeJS.Timeout {
  const { orphanLimitMs, idleLimitMs, isBusy, onEnd } = options;
  const timer = setInterval(() => {
    if (performance.now() - since < (isBusy() ? orphanLimitMs : idleLimitMs)) return;
    clearInterval(timer);
    onEnd('no tool worker came back');
  }, orphanPollMs);
  return timer;
}
