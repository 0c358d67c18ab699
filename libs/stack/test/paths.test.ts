import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ensureStateFolders, resolvePaths } from '../src/paths.ts';
import { scratchFolder } from './fixtures/scratch.ts';

describe('the folders of the stack', () => {
  test('are below the XDG folders, and their own for each checkout', () => {
    const env = {
      HOME: '/home/ada',
      XDG_STATE_HOME: '/state',
      XDG_CACHE_HOME: '/cache',
      XDG_RUNTIME_DIR: '/run/user/7',
    };
    const one = resolvePaths({ root: '/src/one', env });
    const two = resolvePaths({ root: '/src/two', env });
    expect(one.stateDir).toMatch(/^\/state\/holdfast\/[0-9a-f]{12}$/);
    expect(one.cacheDir).toBe('/cache/holdfast');
    expect(one.toolsDir).toBe('/src/one/tools');
    expect(one.controlSocketCandidates[0]).toMatch(/^\/run\/user\/7\/holdfast\/[0-9a-f]{12}\.sock$/);
    expect(two.stateDir).not.toBe(one.stateDir);
    expect(two.controlSocketCandidates[0]).not.toBe(one.controlSocketCandidates[0]);
  });

  test('fall back to the home folder, also when an XDG variable is relative', () => {
    const paths = resolvePaths({ root: '/src/one', env: { HOME: '/home/ada', XDG_CACHE_HOME: 'cache' } });
    expect(paths.stateDir).toMatch(/^\/home\/ada\/\.local\/state\/holdfast\/[0-9a-f]{12}$/);
    expect(paths.cacheDir).toBe('/home/ada/.cache/holdfast');
  });

  test('follow HOLDFAST_STATE_DIR', () => {
    const paths = resolvePaths({ root: '/src/one', env: { HOLDFAST_STATE_DIR: '/data/holdfast' } });
    expect(paths.stateDir).toBe('/data/holdfast');
    expect(paths.secretsFile).toBe('/data/holdfast/secrets.json');
  });

  test('give a control socket whose path the kernel accepts, however long the runtime folder is', () => {
    const env = { XDG_RUNTIME_DIR: `/run/${'x'.repeat(120)}`, TMPDIR: `/tmp/${'y'.repeat(120)}` };
    const paths = resolvePaths({ root: '/src/one', env });
    expect(paths.controlSocketCandidates).toEqual([
      expect.stringMatching(/^\/tmp\/holdfast-\d+\/[0-9a-f]{12}\.sock$/),
    ]);
  });

  test('that cannot be made are a failure that says what to do', async () => {
    const folder = scratchFolder();
    writeFileSync(join(folder, 'file'), '');
    const paths = resolvePaths({
      root: '/src/one',
      env: { HOLDFAST_STATE_DIR: join(folder, 'file', 'state') },
    });
    await expect(ensureStateFolders(paths)).rejects.toMatchObject({
      code: 'stack.state-unreadable',
      message: `The state folder ${folder}/file/state cannot be read and written (ENOTDIR): repair its permissions or set HOLDFAST_STATE_DIR to another folder.`,
    });
  });

  test.skipIf(process.getuid?.() === 0)('that are not writable are the same failure', async () => {
    const folder = scratchFolder();
    mkdirSync(join(folder, 'state'), { mode: 0o500 });
    const paths = resolvePaths({ root: '/src/one', env: { HOLDFAST_STATE_DIR: join(folder, 'state') } });
    await expect(ensureStateFolders(paths)).rejects.toMatchObject({ code: 'stack.state-unreadable' });
  });

  test('cannot be made where the system lets nobody make folders', async () => {
    const paths = resolvePaths({ root: '/', env: { HOLDFAST_STATE_DIR: '/proc/holdfast/state' } });
    await expect(ensureStateFolders(paths)).rejects.toMatchObject({
      code: 'stack.state-unreadable',
      message: expect.stringContaining('(ENOENT)'),
    });
  });
});
