import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { startModelServer, type ModelServer } from '@holdfast/model-script';
import { answer, script, startTestStack } from '@holdfast/testing';
import type { ProgramResult, TestStack } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listStateProcesses } from './state-processes.ts';

/** Like the installation of somebody who has configured nothing. */
const unconfigured = { OPENAI_API_KEY: '', OPENAI_BASE_URL: '' };
const ownKey = 'sk-the-only-key-that-fits';

let stack: TestStack;
let strict: ModelServer;
beforeAll(async () => {
  strict = await startModelServer({
    script: script(answer('let in')),
    requireKey: ownKey,
    models: ['gpt-5.5'],
  });
  stack = await startTestStack({ env: unconfigured });
});
afterAll(() => Promise.all([stack.close(), strict.close()]));

const unknownSession = '00000000-0000-4000-8000-000000000000';
const missing = 'There is no prompt: give it as an argument, or write it to stdin.';
const tooLarge =
  'The prompt is larger than 1 MiB; put long material into a file of the workspace and name the file.';
const megabyte = 'x'.repeat(1024 * 1024);
const noSession = 'There is no such session; `holdfast sessions` lists them.';

const listSessions = async (): Promise<string[]> =>
  (await stack.client.listSessions()).map(({ sessionId }) => sessionId);

/** One complaint for a person and nothing else. */
function expectSentence({ stdout, stderr }: ProgramResult, sentence: string): void {
  expect({ stdout, stderr }).toEqual({ stdout: '', stderr: `holdfast: ${sentence}\n` });
}

describe('a mistake on the command line ends with 2, one sentence, and nothing started', () => {
  test.each([
    {
      name: 'a folder that does not exist',
      args: ['exec', '-C', '/no/such/folder', 'go'],
      sentence: '/no/such/folder does not exist; give an existing folder with -C.',
    },
    {
      name: 'a file as the folder',
      args: ['exec', '-C', '/etc/hostname', 'go'],
      sentence: '/etc/hostname is not a folder; give an existing folder with -C.',
    },
    {
      name: 'a machine that nobody knows',
      args: ['exec', '--machine', 'gpu-9', 'go'],
      sentence:
        'There is no such machine; `holdfast machines` lists them and `holdfast worker start --name NAME --workspace DIR` adds one. (no machine is named gpu-9; known: local)',
    },
    { name: 'an empty prompt', args: ['exec', ''], sentence: missing },
    { name: 'a prompt of spaces', args: ['exec', '  '], sentence: missing },
    { name: 'nothing on stdin', args: ['exec', '-'], sentence: missing },
    {
      name: 'a prompt over 1 MiB on stdin',
      args: ['exec'],
      input: `${megabyte}x`,
      sentence: tooLarge,
    },
    {
      name: 'a prompt that only stdin makes too large',
      args: ['exec', 'read this'],
      input: megabyte,
      sentence: tooLarge,
    },
    {
      name: 'a script that is not there',
      args: ['exec', '--script', '/no/such/script.json', 'go'],
      sentence: 'The script /no/such/script.json cannot be read (ENOENT); check the path.',
    },
    { name: 'an unknown session to resume', args: ['resume', unknownSession, 'go'], sentence: noSession },
    { name: 'an unknown session to watch', args: ['attach', unknownSession], sentence: noSession },
    { name: 'an unknown session to interrupt', args: ['interrupt', unknownSession], sentence: noSession },
    { name: 'an unknown session to list', args: ['events', unknownSession], sentence: noSession },
    {
      name: 'a session id that is none',
      args: ['attach', 'the-last-one'],
      sentence: 'The request is not valid. (sessionId: Invalid UUID)',
    },
    {
      name: 'a workspace that is no folder',
      args: ['worker', 'start', '--name', 'x', '--workspace', '/no/such/folder'],
      sentence: 'The workspace /no/such/folder is not a folder; create it or name another.',
    },
    {
      name: 'an API without its token',
      args: ['sessions'],
      env: { HOLDFAST_API_URL: 'http://127.0.0.1:1' },
      sentence: 'HOLDFAST_API_URL is set but HOLDFAST_API_TOKEN is not; set both.',
    },
  ])('$name', async ({ args, sentence, ...options }) => {
    const before = await listSessions();
    const ended = await stack.holdfast(args, { ...options, cwd: stack.folder() });
    expect(ended.code).toBe(2);
    expectSentence(ended, sentence);
    expect(await listSessions()).toEqual(before);
  });

  test.each([
    { args: ['excute'], sentence: "error: unknown command 'excute'" },
    { args: ['exec', '--jsn', 'go'], sentence: "error: unknown option '--jsn'" },
    {
      args: ['exec', '--approval', 'sometimes', 'go'],
      sentence:
        "error: option '--approval <policy>' argument 'sometimes' is invalid. Allowed choices are never, always.",
    },
    { args: ['resume'], sentence: "error: missing required argument 'session'" },
  ])('$args names the mistake and where the help is', async ({ args, sentence }) => {
    const ended = await stack.holdfast(args, { cwd: stack.folder() });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    const lines = ended.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('(Did you mean'));
    expect(lines).toEqual([sentence, '(`holdfast --help` lists the commands and options)']);
  });

  test.each([
    { name: 'is no JSON', text: '{\n  "replies": [}\n', says: 'is not JSON: ' },
    {
      name: 'has no replies',
      text: '{"reply": []}',
      says: 'is wrong at replies: invalid input: expected array, received undefined.',
    },
    {
      name: 'has a part of two kinds',
      text: '{"replies": [{"output": [{"text": "a", "reasoning": "b"}]}]}',
      says: 'is wrong at replies[0].output[0]: expected exactly one of text, reasoning, call, custom, localShell.',
    },
  ])('a script that $name is named with what is wrong in it', async ({ text, says }) => {
    const file = join(stack.folder(), 'wrong.json');
    writeFileSync(file, text);
    const before = await listSessions();
    const ended = await stack.holdfast(['exec', '--script', file, 'go'], { cwd: stack.folder() });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr.split('\n')).toHaveLength(2);
    expect(ended.stderr).toContain(`holdfast: The script ${file} ${says}`);
    expect(await listSessions()).toEqual(before);
  });
});

test('a machine that is offline ends exec with 4, one sentence, and nothing started', async () => {
  const workspace = stack.folder();
  const worker = stack.start(['worker', 'start', '--name', 'gpu-1', '--workspace', workspace]);
  await worker.waitForLine('The machine gpu-1 serves');
  worker.kill('SIGTERM');
  await worker.result;
  const isOnline = async () =>
    (await stack.client.listMachines()).find(({ name }) => name === 'gpu-1')?.online;
  await expect.poll(isOnline, { timeout: 30_000 }).toBe(false);
  const before = await listSessions();
  const ended = await stack.holdfast(['exec', '--machine', 'gpu-1', 'go'], { cwd: stack.folder() });
  expect(ended.code).toBe(4);
  expectSentence(
    ended,
    'The machine gpu-1 is offline, so nothing was started; start its tool worker there (`holdfast worker start --name gpu-1 --workspace DIR`) or choose another with --machine.',
  );
  expect(await listSessions()).toEqual(before);
});

describe('a model endpoint that refuses ends the turn with 1 and says what to set', () => {
  const refused =
    'The model endpoint refused the API key; set OPENAI_API_KEY to a valid key and send the prompt again.';
  const unknown = 'The model endpoint does not know this model; choose one it offers with --model.';

  test.each([
    { name: 'a wrong key', key: 'sk-wrong', args: [], sentence: refused },
    { name: 'no key at all', key: '', args: [], sentence: refused },
    { name: 'an unknown model', key: ownKey, args: ['--model', 'gpt-0'], sentence: unknown },
  ])('$name', async ({ key, args, sentence }) => {
    const env = { OPENAI_BASE_URL: strict.url, OPENAI_API_KEY: key };
    const [cwd, asked] = [stack.folder(), strict.requests.length];
    const human = await stack.holdfast(['exec', ...args, 'go'], { env, cwd });
    expect(human).toMatchObject({ code: 1, stdout: '' });
    expect(human.stderr.split('\n').filter((line) => line.startsWith('✘'))).toEqual([
      expect.stringContaining(sentence),
    ]);
    const json = await stack.holdfast(['exec', '--json', ...args, 'go'], { env, cwd });
    expect(json.code).toBe(1);
    const lines = json.stdout.split('\n').filter((line) => line !== '');
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({
      type: 'turn.failed',
      error: { message: expect.stringContaining(sentence) as string },
    });
    for (const text of [human.stderr, json.stderr]) expect(text).not.toContain('    at ');
    for (const text of [human.stderr, json.stderr, json.stdout]) expect(text).not.toContain('sk-');
    expect(strict.requests.length - asked).toBe(2);
  });

  test('and the right key and model are let in, with a prompt of exactly 1 MiB', async () => {
    const env = { OPENAI_BASE_URL: strict.url, OPENAI_API_KEY: ownKey };
    const ended = await stack.holdfast(['exec'], { env, cwd: stack.folder(), input: megabyte });
    expect(ended).toMatchObject({ code: 0, stdout: 'let in\n' });
  });
});

describe('without any key', () => {
  const notice =
    'The scripted model answers, because no OPENAI_API_KEY is set; set it (and OPENAI_BASE_URL for another provider) to ask a real one.';

  test.each([[['exec']], [['exec', '--json']], [['exec', '--local']]])(
    '%j says first that the scripted model answers',
    async (args) => {
      const ended = await stack.holdfast([...args, 'go'], { cwd: stack.folder() });
      expect(ended.code).toBe(0);
      expect(ended.stderr.split('\n')[0]).toBe(notice);
      expect(ended.stdout).toContain('OPENAI_API_KEY is not set, so no real model read your prompt');
    },
  );

  test('a script that the person chose needs no notice', async () => {
    const file = join(stack.folder(), 'play.json');
    writeFileSync(file, JSON.stringify(script(answer('played'))));
    const ended = await stack.holdfast(['exec', '--script', file, 'go'], { cwd: stack.folder() });
    expect(ended).toMatchObject({ code: 0, stdout: 'played\n' });
    expect(ended.stderr).not.toContain('scripted model');
  });
});

describe('a stack that cannot start ends with 1, one sentence, and nothing left running', () => {
  let occupant: Server;
  let port: number;
  beforeAll(async () => {
    occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const address = occupant.address();
    port = typeof address === 'object' && address ? address.port : 0;
  });
  afterAll(() => void occupant.close());

  test.each([
    { name: 'a port that is taken', value: () => String(port), says: 'is used by another program' },
    { name: 'a port that is none', value: () => 'https', says: 'is not a port' },
  ])('$name', async ({ value, says }) => {
    const state = join(stack.folder(), 'state');
    const env = { HOLDFAST_STATE_DIR: state, HOLDFAST_SESSION_API_PORT: value() };
    const ended = await stack.holdfast(['up'], { env });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    const complaints = ended.stderr.split('\n').filter((line) => line.startsWith('holdfast: '));
    expect(complaints).toEqual([expect.stringContaining(says)]);
    expect(complaints[0]).toContain('HOLDFAST_SESSION_API_PORT');
    expect(ended.stderr).not.toContain('    at ');
    expect(existsSync(join(state, 'stack.json'))).toBe(false);
    expect(listStateProcesses(state)).toEqual([]);
  });

  test.each([['up'], ['down'], ['status'], ['logs'], ['sessions'], ['exec']])(
    'a state folder that cannot be made, for %s',
    async (name) => {
      const folder = stack.folder();
      writeFileSync(join(folder, 'file'), 'in the way');
      const state = join(folder, 'file', 'state');
      const args = name === 'exec' ? ['exec', 'go'] : [name];
      const ended = await stack.holdfast(args, { env: { HOLDFAST_STATE_DIR: state }, cwd: folder });
      expect(ended.code).toBe(1);
      expect(ended.stdout).toBe('');
      expect(ended.stderr).toMatch(
        /^holdfast: The state folder \S+ cannot be read( and written)? \(ENOTDIR\): repair its permissions or set HOLDFAST_STATE_DIR to another folder\.\n$/,
      );
      expect(readdirSync(folder)).toEqual(['file']);
    },
  );
});
