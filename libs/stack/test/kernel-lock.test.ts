import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { tryLock, waitForLock } from '../src/kernel-lock.ts';
import { scratchFolder } from './fixtures/scratch.ts';

const lockModule = new URL('../src/kernel-lock.ts', import.meta.url).href;

describe('the lock of a state folder', () => {
  test('has one holder at a time', () => {
    const file = join(scratchFolder(), 'lock');
    const first = tryLock(file);
    expect(first).not.toBeNull();
    expect(tryLock(file)).toBeNull();
    first?.release();
    const second = tryLock(file);
    expect(second).not.toBeNull();
    second?.release();
  });

  test('is free as soon as its holder was killed', async () => {
    const file = join(scratchFolder(), 'lock');
    const script = `const { tryLock } = await import(${JSON.stringify(lockModule)});
      globalThis.lock = tryLock(${JSON.stringify(file)}); console.log('held'); setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void holder.kill('SIGKILL'));
    await once(holder.stdout, 'data');
    expect(tryLock(file)).toBeNull();
    holder.kill('SIGKILL');
    const lock = await waitForLock(file, AbortSignal.timeout(10_000));
    lock.release();
  });

  test('that cannot be waited for any longer rejects', async () => {
    const file = join(scratchFolder(), 'lock');
    const lock = tryLock(file);
    await expect(waitForLock(file, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
    lock?.release();
  });
});
