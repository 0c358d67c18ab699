import { describe, expect, test } from 'vitest';
import { startModelServer, type Reply } from '../src/index.ts';
import { ask, owned, toItems, type ServerEvent } from './client.ts';

async function play(reply: Reply, body = {}): Promise<ServerEvent[]> {
  await using server = owned(await startModelServer({ script: { replies: [reply] } }));
  return await ask(server.url, 'go', { body });
}

/** Leaves out what differs from run to run and the envelope that all responses share. */
function toPlain(event: ServerEvent): object {
  const { response, ...rest } = event;
  return response === undefined ? rest : { ...rest, status: (response as { status: string }).status };
}

const base = { item_id: 'msg_r0_0', output_index: 0, content_index: 0 };
const part = { type: 'output_text', annotations: [], logprobs: [] };

describe('the stream of a reply', () => {
  test('has the events of a text in the order of the API', async () => {
    const message = { id: 'msg_r0_0', type: 'message', role: 'assistant' };
    const events = await play({ output: [{ text: 'hello' }], chunk: { size: 3 } });
    expect(events.map(toPlain)).toEqual([
      { type: 'response.created', sequence_number: 0, status: 'in_progress' },
      { type: 'response.in_progress', sequence_number: 1, status: 'in_progress' },
      {
        type: 'response.output_item.added',
        sequence_number: 2,
        output_index: 0,
        item: { ...message, status: 'in_progress', content: [] },
      },
      { type: 'response.content_part.added', sequence_number: 3, ...base, part: { ...part, text: '' } },
      { type: 'response.output_text.delta', sequence_number: 4, ...base, logprobs: [], delta: 'hel' },
      { type: 'response.output_text.delta', sequence_number: 5, ...base, logprobs: [], delta: 'lo' },
      { type: 'response.output_text.done', sequence_number: 6, ...base, logprobs: [], text: 'hello' },
      { type: 'response.content_part.done', sequence_number: 7, ...base, part: { ...part, text: 'hello' } },
      {
        type: 'response.output_item.done',
        sequence_number: 8,
        output_index: 0,
        item: { ...message, status: 'completed', content: [{ ...part, text: 'hello' }] },
      },
      { type: 'response.completed', sequence_number: 9, status: 'completed' },
    ]);
  });

  test('has the events of reasoning, calls and freeform calls in the order of the API', async () => {
    const events = await play({
      output: [
        { reasoning: 'hmm' },
        { call: { name: 'exec_command', namespace: 'n', arguments: { cmd: 'true' } } },
        { custom: { name: 'apply_patch', input: 'patch' } },
        { localShell: { command: ['ls'] } },
        { call: { name: 'broken', arguments: '', callId: 'mine' } },
      ],
    });
    expect(events.map((event) => [event.type, event['item_id'] ?? event['output_index']])).toEqual([
      ['response.created', undefined],
      ['response.in_progress', undefined],
      ['response.output_item.added', 0],
      ['response.reasoning_summary_part.added', 'rs_r0_0'],
      ['response.reasoning_summary_text.delta', 'rs_r0_0'],
      ['response.reasoning_summary_text.done', 'rs_r0_0'],
      ['response.reasoning_summary_part.done', 'rs_r0_0'],
      ['response.output_item.done', 0],
      ['response.output_item.added', 1],
      ['response.function_call_arguments.delta', 'fc_r0_1'],
      ['response.function_call_arguments.done', 'fc_r0_1'],
      ['response.output_item.done', 1],
      ['response.output_item.added', 2],
      ['response.custom_tool_call_input.delta', 'ctc_r0_2'],
      ['response.custom_tool_call_input.done', 'ctc_r0_2'],
      ['response.output_item.done', 2],
      ['response.output_item.added', 3],
      ['response.output_item.done', 3],
      ['response.output_item.added', 4],
      ['response.function_call_arguments.done', 'fc_r0_4'],
      ['response.output_item.done', 4],
      ['response.completed', undefined],
    ]);
    const call = { type: 'function_call', status: 'completed' };
    expect(toItems(events)).toEqual([
      { id: 'rs_r0_0', type: 'reasoning', summary: [{ type: 'summary_text', text: 'hmm' }] },
      {
        ...call,
        id: 'fc_r0_1',
        call_id: 'call_r0_1',
        name: 'exec_command',
        namespace: 'n',
        arguments: '{"cmd":"true"}',
      },
      {
        id: 'ctc_r0_2',
        type: 'custom_tool_call',
        status: 'completed',
        call_id: 'call_r0_2',
        name: 'apply_patch',
        input: 'patch',
      },
      {
        id: 'lsh_r0_3',
        type: 'local_shell_call',
        status: 'completed',
        call_id: 'call_r0_3',
        action: { type: 'exec', command: ['ls'], env: {}, working_directory: null, timeout_ms: null },
      },
      { ...call, id: 'fc_r0_4', call_id: 'mine', name: 'broken', arguments: '' },
    ]);
  });

  test('ends with the output, the usage and end_turn, under an id of its own', async () => {
    const usage = { inputTokens: 10, cachedTokens: 4, outputTokens: 5, reasoningTokens: 2 };
    const events = await play({ output: [{ text: 'hello' }], usage, endTurn: false });
    const created = events[0]?.['response'] as Record<string, unknown>;
    const completed = events.at(-1)?.['response'] as Record<string, unknown>;
    expect(created['id']).toMatch(/^resp_[0-9a-f]{32}$/);
    expect(completed).toMatchObject({
      id: created['id'],
      model: 'scripted',
      output: toItems(events),
      end_turn: false,
    });
    expect(completed['usage']).toEqual({
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 15,
    });
  });

  test('carries encrypted reasoning when the request includes it', async () => {
    const events = await play(
      { output: [{ reasoning: 'hmm' }] },
      { include: ['reasoning.encrypted_content'] },
    );
    expect(toItems(events)).toEqual([
      {
        id: 'rs_r0_0',
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'hmm' }],
        encrypted_content: 'aG1t',
      },
    ]);
  });

  test('is never cut inside a character', async () => {
    const text = 'aé€😀👩‍🚀z'.repeat(20);
    const events = await play({ output: [{ text }], chunk: { size: 1 } });
    const deltas = events.flatMap((event) =>
      event.type === 'response.output_text.delta' ? [String(event['delta'])] : [],
    );
    expect(deltas).toEqual(Array.from(text));
    expect(deltas.every((delta) => delta.isWellFormed())).toBe(true);
  });
});
