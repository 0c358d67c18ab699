import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolvePaths } from '@holdfast/stack';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasStackModel, readStackDoor, toStateDir } from '../src/stack-files.ts';

describe('the state folder', () => {
  const cases: [string, Record<string, string>][] = [
    ['by default', { HOME: '/home/me' }],
    ['with an XDG folder', { HOME: '/home/me', XDG_STATE_HOME: '/var/state' }],
    ['with a relative XDG folder, which is ignored', { HOME: '/home/me', XDG_STATE_HOME: 'state' }],
    ['with a folder of its own', { HOME: '/home/me', HOLDFAST_STATE_DIR: '/srv/holdfast' }],
    ['with a relative folder of its own', { HOLDFAST_STATE_DIR: 'holdfast-state' }],
    ['without a home', {}],
  ];

  test.each(cases)('is where libs/stack has it %s', (_, env) => {
    const place = { root: '/src/holdfast/', env };
    expect(toStateDir(place)).toBe(resolvePaths(place).stateDir);
  });
});

describe('the way into the stack', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-files-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function place(files: Record<string, string>) {
    const state = await mkdtemp(join(folder, 'state-'));
    for (const [name, content] of Object.entries(files)) await writeFile(join(state, name), content);
    return { root: '/checkout', env: { HOLDFAST_STATE_DIR: state } };
  }

  const stack = JSON.stringify({ pid: 1, sessionApiUrl: 'http://127.0.0.1:5' });

  test('is read from the files that libs/stack writes', async () => {
    const found = readStackDoor(await place({ 'stack.json': stack, 'secrets.json': '{"apiToken": "t"}' }));
    expect(found).toEqual({ sessionApiUrl: 'http://127.0.0.1:5', apiToken: 't' });
  });

  test('is absent while no stack is up', async () => {
    expect(readStackDoor(await place({ 'secrets.json': '{"apiToken": "t"}' }))).toBeNull();
    expect(readStackDoor(await place({ 'stack.json': stack }))).toBeNull();
    expect(readStackDoor(await place({ 'stack.json': '{', 'secrets.json': '{}' }))).toBeNull();
    expect(readStackDoor({ root: '/', env: { HOLDFAST_STATE_DIR: join(folder, 'missing') } })).toBeNull();
  });

  test('cannot be looked for in a state folder that is none', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    expect(() => readStackDoor({ root: '/', env: { HOLDFAST_STATE_DIR: file } })).toThrow(
      `The state folder ${file} cannot be read (ENOTDIR): repair its permissions or set HOLDFAST_STATE_DIR to another folder.`,
    );
  });

  test('tells whether the stack has a model of its own', async () => {
    expect(hasStackModel(await place({ 'model.json': '{"endpoint": "scripted"}' }))).toBe(false);
    expect(hasStackModel(await place({ 'model.json': '{"endpoint": "configured"}' }))).toBe(true);
    expect(hasStackModel(await place({}))).toBe(true);
  });
});
