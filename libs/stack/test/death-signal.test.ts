import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { withDeathSignal } from '../src/death-signal.ts';
import { findOnPath } from '../src/executables.ts';
import { readCommandLine } from '../src/process-identity.ts';
import { asAccount, choosePostgresAccount, demotedAccount } from '../src/servers/postgres-account.ts';
import { isAlive } from './fixtures/stack-harness.ts';

const env = { PATH: '/usr/bin:/bin:/usr/sbin' };
const hasSetpriv = (await findOnPath('setpriv', env)) !== null;
const accounts = [
  ['the usual account', () => choosePostgresAccount(env)],
  ...(process.getuid?.() === 0 ? [['an account below root', async () => demotedAccount()] as const] : []),
] as const;

describe('the death signal', () => {
  test.runIf(hasSetpriv).each(accounts)('ends a server of %s with its killed parent', async (_, choose) => {
    const wrapped = await withDeathSignal({ command: 'sleep', args: ['600'] }, { signal: 'INT', env });
    const line = asAccount(await choose(), wrapped);
    const script = `const child = require('node:child_process').spawn(${JSON.stringify(line.command)}, ${JSON.stringify(line.args)});
      child.on('spawn', () => console.log(child.pid)); setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ['-e', script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const [output] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(output.toString());
    onTestFinished(() => {
      if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    });
    await vi.waitFor(() => expect(readCommandLine(pid)).toBe('sleep 600'));
    parent.kill('SIGKILL');
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 10_000 });
  });

  test('is left out where setpriv is missing', async () => {
    const line = { command: 'sleep', args: ['600'] };
    expect(await withDeathSignal(line, { signal: 'TERM', env: { PATH: '' } })).toEqual(line);
  });
});
