import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';

const module = new URL('../src/service.ts', import.meta.url).href;

/** A process that runs two services; `stop` is the body of the stop of each. */
async function startProcess(options: { stop: string; parentPipe: boolean; stopLimitMs: number }) {
  const program = `
    const { runUntilStopped } = await import(${JSON.stringify(module)});
    const service = (name) => ({ stop: async () => { ${options.stop} console.log(name + ' stopped'); } });
    setInterval(() => undefined, 1_000_000);
    const ended = runUntilStopped([service('a'), service('b')], ${JSON.stringify(options)});
    console.log('running');
    await ended;`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  await once(child.stdout, 'data');
  return {
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    loseSupervisor: () => child.stdin.end(),
    async end() {
      const [code] = (await once(child, 'close')) as [number | null];
      return { code, said: said.trim().split('\n') };
    },
  };
}

const willing = { stop: '', parentPipe: false, stopLimitMs: 60_000 };
const hanging = { stop: 'await new Promise(() => undefined);', parentPipe: false, stopLimitMs: 20 };

describe('a service process', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('stops every service at %s and ends with 0', async (signal) => {
    const running = await startProcess(willing);
    running.kill(signal);
    expect(await running.end()).toEqual({ code: 0, said: ['running', 'a stopped', 'b stopped'] });
  });

  test('that lost its supervisor stops as well', async () => {
    const running = await startProcess({ ...willing, parentPipe: true });
    running.loseSupervisor();
    expect(await running.end()).toEqual({ code: 0, said: ['running', 'a stopped', 'b stopped'] });
  });

  test('ends with 1 when a service does not stop in time', async () => {
    const running = await startProcess(hanging);
    running.kill('SIGTERM');
    expect(await running.end()).toEqual({ code: 1, said: ['running'] });
  });
});
