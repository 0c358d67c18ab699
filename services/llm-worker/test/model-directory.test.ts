import { createSecretBox } from '@holdfast/config';
import { describe, expect, test } from 'vitest';
import { createModelDirectory, type ModelDirectoryOptions } from '../src/index.ts';
import { toRejection } from './harness.ts';
import { sessionId } from './recording-store.ts';

const secretBox = createSecretBox('the key of this installation');
const open = (options: Partial<ModelDirectoryOptions> = {}) => {
  const models = createModelDirectory({ defaultModel: 'gpt-5.5', secretBox, ...options });
  return Object.assign(models, { [Symbol.asyncDispose]: () => models.close() });
};
const ask = { model: 'm', stream: true, input: 'hi' };

async function toAnswer(baseUrl: string): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${baseUrl}/responses`, {
    method: 'POST',
    headers,
    body: JSON.stringify(ask),
  });
  return response.text();
}

describe('where the model is', () => {
  test("a session's own endpoint comes first, with its unsealed key", async () => {
    await using models = open({ baseUrl: 'https://own.test/v1', apiKey: 'own' });
    const endpoint = { baseUrl: 'https://caller.test/v1', sealedKey: secretBox.seal('sk-caller') };
    expect(await models.resolve(sessionId, { name: 'x', endpoint, script: '{}' })).toEqual({
      name: 'x',
      baseUrl: 'https://caller.test/v1',
      apiKey: 'sk-caller',
      hosted: [],
    });
  });

  test("the worker's key is never sent to an endpoint that a session named", async () => {
    await using models = open({ baseUrl: 'https://own.test/v1', apiKey: 'own' });
    const failure = await toRejection(
      models.resolve(sessionId, { name: 'x', endpoint: { baseUrl: 'https://thief.test/v1' } }),
    );
    expect(failure).toMatchObject({ code: 'model.unauthorized', detail: 'no key is set for thief.test' });
    const own = await models.resolve(sessionId, { name: 'x', endpoint: { baseUrl: 'https://own.test/v1' } });
    expect(own.apiKey).toBe('own');
  });

  test('an endpoint on loopback needs no key', async () => {
    await using models = open({ apiKey: 'own' });
    const endpoint = { baseUrl: 'http://127.0.0.1:9/v1' };
    expect(await models.resolve(sessionId, { name: 'x', endpoint })).toEqual({
      name: 'x',
      ...endpoint,
      apiKey: 'none',
      hosted: [],
    });
  });

  test('a key that was sealed elsewhere is refused with a way out', async () => {
    await using models = open();
    const sealedKey = createSecretBox('another installation').seal('sk');
    const failure = await toRejection(
      models.resolve(sessionId, { name: 'x', endpoint: { baseUrl: 'https://caller.test/v1', sealedKey } }),
    );
    expect(failure).toMatchObject({
      code: 'model.unauthorized',
      detail: "the session's key was sealed with another HOLDFAST_SECRET_KEY; start a new session",
    });
  });

  test("the worker's own endpoint answers for everybody else, under the model that default stands for", async () => {
    await using models = open({ apiKey: 'own', defaultModel: 'gpt-6.1-sol' });
    expect(await models.resolve(sessionId, { name: 'default' })).toEqual({
      name: 'gpt-6.1-sol',
      baseUrl: 'https://api.openai.com/v1',
      apiKey: 'own',
      hosted: ['web_search'],
    });
  });

  test('a base URL without a key is refused unless it is on loopback', async () => {
    await using models = open({ baseUrl: 'https://own.test/v1' });
    expect(await toRejection(models.resolve(sessionId, { name: 'x' }))).toMatchObject({
      code: 'model.unauthorized',
    });
  });

  test("a session's script plays even where a real model is configured, and may be replaced", async () => {
    await using models = open({ apiKey: 'own' });
    const toScript = (text: string) => JSON.stringify({ replies: [{ output: [{ text }] }], loop: true });
    const one = await models.resolve(sessionId, { name: 'x', script: toScript('first script') });
    expect(await toAnswer(one.baseUrl)).toContain('first script');
    const other = await models.resolve(sessionId, { name: 'x', script: toScript('second script') });
    expect(await toAnswer(other.baseUrl)).toContain('second script');
    expect(one.apiKey).toBe('none');
  });

  test('a script that is none is named in one sentence', async () => {
    await using models = open();
    const failure = await toRejection(models.resolve(sessionId, { name: 'x', script: '{"replies": 3}' }));
    expect(failure).toMatchObject({
      code: 'input.invalid',
      detail: expect.stringMatching(/^The script of the session is wrong at replies/),
    });
  });

  test('without anything the built-in model answers and says what it is', async () => {
    await using models = open();
    const { baseUrl } = await models.resolve(sessionId, { name: 'x' });
    expect(await toAnswer(baseUrl)).toContain('OPENAI_API_KEY is not set');
  });
});
