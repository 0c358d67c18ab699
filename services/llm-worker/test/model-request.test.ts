import { readFileSync } from 'node:fs';
import { sessionTools } from '@holdfast/session-tools';
import { describe, expect, test } from 'vitest';
import { gatewayCatalog, machineCatalog, startHarness } from './harness.ts';
import { sessionId, toRequest } from './recording-store.ts';

const never = new AbortController().signal;
const instructions = readFileSync(
  new URL('../src/prompts/base-instructions.md', import.meta.url),
  'utf8',
).trim();
const developer = {
  type: 'message',
  role: 'developer',
  content: [{ type: 'input_text', text: instructions }],
};
const user = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'text of in_1' }] };

const toReasoning = (body: unknown) => (body as { reasoning?: unknown }).reasoning;

describe('the request', () => {
  test('has the form that Codex sends, with the tools of machine, session and gateways in a stable order', async () => {
    await using harness = await startHarness({
      replies: [{ output: [{ text: 'hello' }] }],
      catalogs: [machineCatalog, gatewayCatalog],
    });
    await harness.streamer.sample(toRequest(), never);
    expect(harness.server.requests.map(({ path, body }) => ({ path, body }))).toEqual([
      {
        path: '/v1/responses',
        body: {
          model: 'gpt-5.5',
          stream: true,
          input: [developer, user],
          tools: [
            {
              type: 'custom',
              name: 'apply_patch',
              description: 'Changes files.',
              format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
            },
            {
              type: 'function',
              name: 'exec_command',
              description: 'Runs a command.',
              parameters: { type: 'object', properties: { cmd: { type: 'string' } } },
              strict: false,
            },
            ...sessionTools.map(({ name, description, form }) => ({
              type: 'function',
              name,
              description,
              parameters: form.kind === 'function' ? form.parameters : undefined,
              strict: false,
            })),
            {
              type: 'function',
              name: 'Alpha__first',
              description: 'Sorted after the machine although its name is not.',
              parameters: { type: 'object' },
              strict: false,
            },
          ],
          tool_choice: 'auto',
          parallel_tool_calls: true,
          reasoning: { summary: 'auto' },
          store: false,
          include: ['reasoning.encrypted_content'],
          prompt_cache_key: sessionId,
        },
      },
    ]);
  });

  test.each([
    ['gpt-6.1-sol', { summary: 'auto' }],
    ['openai/o4-mini', { summary: 'auto' }],
    ['llama-4', undefined],
    ['gpt-4.1', undefined],
  ])('asks %s for reasoning %o', async (name, reasoning) => {
    await using harness = await startHarness({ replies: [{ output: [{ text: 'x' }] }], model: { name } });
    await harness.streamer.sample(toRequest(), never);
    expect(harness.server.requests[0]?.body).toMatchObject({ model: name });
    expect(toReasoning(harness.server.requests[0]?.body)).toEqual(reasoning);
  });
});

describe('the prompt cache', () => {
  test('fetches only what is new, and sends the whole conversation all the same', async () => {
    await using harness = await startHarness({
      replies: [
        { output: [{ call: { name: 'exec_command', arguments: {} } }] },
        { output: [{ text: 'done' }] },
      ],
      catalogs: [machineCatalog],
    });
    const { store, streamer, server } = harness;
    await streamer.sample(toRequest(), never);
    const output = { type: 'function_call_output' as const, call_id: 'call_r0_0', output: 'ok' };
    store.append(output);
    await streamer.sample(toRequest(2), never);
    expect(store.opened).toEqual([toRequest(), { ...toRequest(2), have: { epoch: 1, seq: 1 } }]);
    expect(server.requests[1]?.body).toMatchObject({
      input: [
        developer,
        user,
        { type: 'function_call', id: 'fc_r0_0', call_id: 'call_r0_0', name: 'exec_command', arguments: '{}' },
        output,
      ],
    });
    expect(store.catalogReads).toEqual([machineCatalog.digest]);
  });

  test('is replaced when the store says that earlier items are no longer valid', async () => {
    await using harness = await startHarness({
      replies: [{ output: [{ text: 'one' }] }, { output: [{ text: 'two' }] }],
    });
    await harness.streamer.sample(toRequest(), never);
    harness.store.epoch = 2;
    harness.store.items.length = 1;
    await harness.streamer.sample(toRequest(2), never);
    expect(harness.server.requests[1]?.body).toMatchObject({ input: [developer, user] });
  });
});
