import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chooseModel, isLeftToStack } from '../src/model-choice.ts';

describe('the model of a session', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-model-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const choose = (env: Record<string, string>, options: { model?: string; script?: string } = {}) =>
    chooseModel({ env, cwd: folder }, { model: options.model, script: options.script });

  test('is the usual one at the stack when nothing is said', async () => {
    const choice = await choose({});
    expect(choice).toEqual({ name: 'gpt-5.5' });
    expect(isLeftToStack(choice)).toBe(true);
  });

  test('is named by the option before the environment', async () => {
    expect(await choose({ HOLDFAST_MODEL: 'a' })).toEqual({ name: 'a' });
    expect(await choose({ HOLDFAST_MODEL: 'a' }, { model: 'b' })).toEqual({ name: 'b' });
  });

  test('is at OpenAI when there is only a key', async () => {
    const choice = await choose({ OPENAI_API_KEY: 'k' });
    expect(choice).toEqual({ name: 'gpt-5.5', baseUrl: 'https://api.openai.com/v1', apiKey: 'k' });
    expect(isLeftToStack(choice)).toBe(false);
  });

  test('is at the given address, with or without a key', async () => {
    const env = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' };
    expect(await choose(env)).toEqual({ name: 'gpt-5.5', baseUrl: 'http://127.0.0.1:9/v1' });
    expect(await choose({ ...env, OPENAI_API_KEY: 'k' })).toEqual({
      name: 'gpt-5.5',
      baseUrl: 'http://127.0.0.1:9/v1',
      apiKey: 'k',
    });
  });

  test('is a script when one is given, whatever the environment says', async () => {
    const script = '{"replies": [{"output": [{"text": "hi"}]}]}';
    await writeFile(join(folder, 'good.json'), script);
    const choice = await choose({ OPENAI_API_KEY: 'k' }, { script: 'good.json' });
    expect(choice).toEqual({ name: 'gpt-5.5', script });
    expect(isLeftToStack(choice)).toBe(false);
  });

  test('cannot be a script that is not there', async () => {
    const file = join(folder, 'missing.json');
    await expect(choose({}, { script: 'missing.json' })).rejects.toMatchObject({
      exitCode: 2,
      message: `The script ${file} cannot be read (ENOENT); check the path.`,
    });
  });

  test('cannot be a script that is not JSON', async () => {
    await writeFile(join(folder, 'bad.json'), '{');
    await expect(choose({}, { script: 'bad.json' })).rejects.toMatchObject({ code: 'input.invalid' });
  });
});
