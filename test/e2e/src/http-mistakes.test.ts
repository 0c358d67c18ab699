import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestStack } from '@holdfast/testing';
import type { TestStack } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let stack: TestStack;
let token: string;
beforeAll(async () => {
  stack = await startTestStack();
  const secrets: { apiToken: string } = JSON.parse(
    readFileSync(join(stack.stateDir, 'secrets.json'), 'utf8'),
  ) as never;
  token = secrets.apiToken;
});
afterAll(() => stack.close());

const settings = { cwd: '/tmp', model: { name: 'scripted' } };
const withInput = (text: string) => JSON.stringify({ settings, input: { inputId: 'one', text } });

async function post(body: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${stack.addresses()['session-api']}/v1/sessions`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
  });
  const answer: unknown = await response.json();
  return { status: response.status, body: answer };
}

const invalid = (detail: unknown) => ({
  error: { code: 'input.invalid', message: expect.any(String) as string, detail },
});
const tooLarge = {
  error: {
    code: 'input.too-large',
    message:
      'The prompt is larger than 1 MiB; put long material into a file of the workspace and name the file.',
  },
};

describe('a wrong request to the API is refused in one sentence and makes no session', () => {
  test.each([
    { name: 'that is no JSON', body: '{"settings":', status: 400, answer: invalid(expect.any(String)) },
    { name: 'that is empty', body: '', status: 400, answer: invalid(expect.any(String)) },
    {
      name: 'with a field that there is not',
      body: JSON.stringify({ settings, prompt: 'go' }),
      status: 400,
      answer: invalid(expect.stringContaining('prompt')),
    },
    {
      name: 'with a relative folder',
      body: JSON.stringify({ settings: { ...settings, cwd: 'here' } }),
      status: 400,
      answer: invalid('settings.cwd: must be an absolute path'),
    },
    {
      name: 'with an empty prompt',
      body: withInput(''),
      status: 400,
      answer: invalid('input.text: must not be empty'),
    },
    {
      name: 'with a prompt that a database cannot keep',
      body: withInput('a\0b'),
      status: 400,
      answer: invalid('input.text: must be Unicode text without NUL characters'),
    },
    {
      name: 'with a prompt a little over 1 MiB',
      body: withInput('x'.repeat(1024 * 1024 + 1)),
      status: 413,
      answer: tooLarge,
    },
    {
      name: 'with a prompt of several MiB',
      body: withInput('x'.repeat(7 * 1024 * 1024)),
      status: 413,
      answer: tooLarge,
    },
    {
      name: 'for a machine that nobody knows',
      body: JSON.stringify({ settings: { ...settings, machine: 'gpu-9' } }),
      status: 404,
      answer: {
        error: {
          code: 'machine.unknown',
          message: expect.stringContaining('There is no such machine') as string,
          detail: 'no machine is named gpu-9; known: local',
        },
      },
    },
  ])('$name', async ({ body, status, answer }) => {
    const before = await stack.client.listSessions();
    const refused = await post(body);
    expect(refused).toEqual({ status, body: answer });
    expect(JSON.stringify(refused.body)).not.toMatch(/\\n|node_modules/);
    expect(await stack.client.listSessions()).toEqual(before);
  });

  test('without the right token', async () => {
    for (const authorization of ['', 'Bearer wrong', token]) {
      expect(await post(withInput('go'), { authorization })).toEqual({
        status: 401,
        body: { error: { code: 'auth.missing', message: 'The request carries no valid bearer token.' } },
      });
    }
    expect(await stack.client.listSessions()).toEqual([]);
  });

  test('and the next right request is served', async () => {
    const made = await post(withInput('go'));
    expect(made).toMatchObject({ status: 201, body: { state: expect.any(String) as string } });
    expect(await stack.client.listSessions()).toHaveLength(1);
  });
});
