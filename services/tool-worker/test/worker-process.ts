// worker-process.ts: the machine in a process of its own, which the test can kill. Runs the calls it is given, one a line.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { CallOutput } from '@holdfast/protocol';
import { onTestFinished } from 'vitest';

export type WorkerProcess = {
  /** Resolves with what the store has of the call. */
  call(callId: string, tool: string, input: object): Promise<CallOutput>;
  /** The largest resident size so far, in MiB. */
  peakMiB(): Promise<number>;
  /** Ends it and its process host; resolves when both are gone. */
  stop(): Promise<void>;
  /** kill -9; resolves when it is gone. Its process host stays. */
  kill(): Promise<void>;
};

const toUrl = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
const code = `
  import { createInterface } from 'node:readline';
  import { openMachine } from ${toUrl('../src/machine.ts')};
  import { StrictCallLog } from ${toUrl('./strict-call-log.ts')};
  const { stateDir, workspace } = JSON.parse(process.argv[1]);
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const store = new StrictCallLog();
  const env = { ...process.env, XDG_RUNTIME_DIR: stateDir };
  const machine = openMachine({ stateDir, workspace, name: 'test', supervised: false, env, store, logger });
  for await (const line of createInterface({ input: process.stdin })) {
    const { callId, tool, input } = JSON.parse(line);
    if (callId) {
      const request = store.add({ callId, tool, input: JSON.stringify(input), cwd: workspace });
      await machine.calls.run(request, new AbortController().signal);
      console.log(JSON.stringify(store.outputOf(callId)));
    } else console.log(JSON.stringify(process.resourceUsage().maxRSS / 1024));
  }
  await machine.close({ limitMs: 2_000 });`;

/** Ended when the test ends. */
export function startWorkerProcess(folders: { stateDir: string; workspace: string }): WorkerProcess {
  const worker = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code, JSON.stringify(folders)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const exited = once(worker, 'exit');
  onTestFinished(() => void worker.kill('SIGKILL'));
  const lines = createInterface({ input: worker.stdout })[Symbol.asyncIterator]();
  const ask = async (message: object): Promise<unknown> => {
    worker.stdin.write(`${JSON.stringify(message)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error('the worker ended');
    return JSON.parse(value);
  };
  return {
    call: async (callId, tool, input) => (await ask({ callId, tool, input })) as CallOutput,
    peakMiB: async () => (await ask({})) as number,
    stop: async () => {
      worker.stdin.end();
      await exited;
    },
    kill: async () => {
      worker.kill('SIGKILL');
      await exited;
    },
  };
}
