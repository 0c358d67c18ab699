import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { tryLock, waitForLock } from '../src/index.ts';

const lockModule = new URL('../src/index.ts', import.meta.url).href;

function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('a kernel lock', () => {
  test('has one holder at a time', () => {
    const file = join(scratchFolder(), 'lock');
    const first = tryLock(file);
    expect(first).toBeDefined();
    expect(tryLock(file)).toBeUndefined();
    first?.release();
    const second = tryLock(file);
    expect(second).toBeDefined();
    second?.release();
  });

  test('outlives the object that nobody keeps', async () => {
    const file = join(scratchFolder(), 'lock');
    const script = `const { tryLock } = await import(${JSON.stringify(lockModule)});
      tryLock(${JSON.stringify(file)});
      for (let round = 0; round < 5; round += 1) { gc(); await new Promise(setImmediate); }
      console.log(tryLock(${JSON.stringify(file)}) === undefined ? 'held' : 'lost');`;
    const holder = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void holder.kill('SIGKILL'));
    const [word] = (await once(holder.stdout, 'data')) as [Buffer];
    expect(word.toString().trim()).toBe('held');
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
    expect(tryLock(file)).toBeUndefined();
    holder.kill('SIGKILL');
    const lock = await waitForLock(file, AbortSignal.timeout(10_000));
    lock.release();
  });

  test('whose file cannot be used is refused with a sentence that names the file', () => {
    const folder = scratchFolder();
    expect(() => tryLock(folder)).toThrow(`The lock file ${folder} cannot be used`);
  });

  test('that cannot be waited for any longer rejects', async () => {
    const file = join(scratchFolder(), 'lock');
    const lock = tryLock(file);
    await expect(waitForLock(file, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
    lock?.release();
  });
});
