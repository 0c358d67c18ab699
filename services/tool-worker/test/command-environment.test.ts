import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createCommandEnvironment } from '../src/command-environment.ts';
import { createFolder } from './folders.ts';

function createHome() {
  const home = createFolder();
  const profile = (name: string, value: string) =>
    writeFileSync(join(home, name), `export FROM_PROFILE=${value}\n`);
  const environment = () => createCommandEnvironment({ PATH: process.env['PATH'], HOME: home });
  return { home, profile, environment };
}

describe('the login environment', () => {
  test('is captured once, however many commands ask for it', async () => {
    const { profile, environment } = createHome();
    profile('.bash_profile', 'one');
    const { login } = environment();
    expect((await login())['FROM_PROFILE']).toBe('one');
    expect(await login()).toBe(await login());
  });

  test.each(['.bash_profile', '.profile'])(
    'is captured again when %s is written, made or removed',
    async (name) => {
      const { home, profile, environment } = createHome();
      const { login } = environment();
      expect((await login())['FROM_PROFILE']).toBeUndefined();
      profile(name, 'made');
      expect((await login())['FROM_PROFILE']).toBe('made');
      profile(name, 'written');
      expect((await login())['FROM_PROFILE']).toBe('written');
      rmSync(join(home, name));
      expect((await login())['FROM_PROFILE']).toBeUndefined();
    },
  );

  test('is what the worker has when the profile fails', async () => {
    const { home, environment } = createHome();
    writeFileSync(join(home, '.bash_profile'), 'exit 3\n');
    const { login, plain } = environment();
    expect(await login()).toBe(plain);
  });
});
