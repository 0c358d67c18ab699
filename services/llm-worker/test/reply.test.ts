import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { gatewayCatalog, machineCatalog, startHarness } from './harness.ts';
import { sessionId, toRequest, turnId } from './recording-store.ts';

const never = new AbortController().signal;

describe('a reply', () => {
  test('is committed whole: items, calls, usage, and what the context costs', async () => {
    await using harness = await startHarness({
      replies: [
        {
          output: [
            { reasoning: 'look first' },
            { text: 'Looking.' },
            { call: { name: 'exec_command', arguments: { cmd: 'ls' } } },
            { custom: { name: 'apply_patch', input: '*** Begin Patch' } },
            { call: { name: 'first', namespace: 'Alpha', arguments: '{broken' } },
            { call: { name: 'no_such_tool', arguments: {} } },
          ],
          usage: { inputTokens: 120, cachedTokens: 100, outputTokens: 30, reasoningTokens: 7 },
        },
      ],
      catalogs: [machineCatalog, gatewayCatalog],
    });
    const reply = await harness.streamer.sample(toRequest(), never);
    expect(reply).toEqual({
      kind: 'reply',
      calls: [
        { callId: '1.1.0', tool: 'exec_command', placement: 'machine', parallel: true },
        { callId: '1.1.1', tool: 'apply_patch', placement: 'machine', parallel: false },
        { callId: '1.1.2', tool: 'Alpha__first', placement: 'gateway', parallel: true },
        { callId: '1.1.3', tool: 'no_such_tool', placement: 'workflow', parallel: false },
      ],
      contextTokens: 150,
      endTurn: true,
    });
    expect(harness.store.commits).toEqual([
      {
        sessionId,
        turnId,
        step: 1,
        fence: 1,
        ordinal: 1,
        responseId: expect.stringMatching(/^resp_[0-9a-f]{32}$/),
        items: [
          {
            type: 'reasoning',
            id: 'rs_r0_0',
            summary: [{ type: 'summary_text', text: 'look first' }],
            encrypted_content: Buffer.from('look first').toString('base64'),
          },
          {
            type: 'message',
            role: 'assistant',
            id: 'msg_r0_1',
            content: [{ type: 'output_text', text: 'Looking.' }],
          },
          {
            type: 'function_call',
            id: 'fc_r0_2',
            call_id: 'call_r0_2',
            name: 'exec_command',
            arguments: '{"cmd":"ls"}',
          },
          {
            type: 'custom_tool_call',
            id: 'ctc_r0_3',
            call_id: 'call_r0_3',
            name: 'apply_patch',
            input: '*** Begin Patch',
          },
          {
            type: 'function_call',
            id: 'fc_r0_4',
            call_id: 'call_r0_4',
            name: 'first',
            namespace: 'Alpha',
            arguments: '{broken',
          },
          {
            type: 'function_call',
            id: 'fc_r0_5',
            call_id: 'call_r0_5',
            name: 'no_such_tool',
            arguments: '{}',
          },
        ],
        calls: [
          {
            modelCallId: 'call_r0_2',
            tool: 'exec_command',
            placement: 'machine',
            parallel: true,
            form: 'function',
            input: '{"cmd":"ls"}',
          },
          {
            modelCallId: 'call_r0_3',
            tool: 'apply_patch',
            placement: 'machine',
            parallel: false,
            form: 'freeform',
            input: '*** Begin Patch',
          },
          {
            modelCallId: 'call_r0_4',
            tool: 'Alpha__first',
            placement: 'gateway',
            parallel: true,
            form: 'function',
            input: '{broken',
          },
          {
            modelCallId: 'call_r0_5',
            tool: 'no_such_tool',
            placement: 'workflow',
            parallel: false,
            form: 'function',
            input: '{}',
          },
        ],
        usage: { inputTokens: 120, cachedInputTokens: 100, outputTokens: 30, reasoningOutputTokens: 7 },
        contextTokens: 150,
        endTurn: true,
      },
    ]);
  });

  test('says with end_turn false that the model wants to be asked again', async () => {
    await using harness = await startHarness({ replies: [{ output: [{ text: 'more' }], endTurn: false }] });
    expect(await harness.streamer.sample(toRequest(), never)).toMatchObject({ calls: [], endTurn: false });
  });

  test('with a legacy shell call becomes a function call of the tool shell', async () => {
    await using harness = await startHarness({
      replies: [{ output: [{ localShell: { command: ['ls', '-l'], workingDirectory: '/tmp' } }] }],
    });
    await harness.streamer.sample(toRequest(), never);
    const input = '{"command":["ls","-l"],"workdir":"/tmp"}';
    expect(harness.store.commits[0]?.items).toEqual([
      { type: 'function_call', call_id: 'call_r0_0', name: 'shell', arguments: input },
    ]);
    expect(harness.store.commits[0]?.calls).toMatchObject([{ tool: 'shell', form: 'function', input }]);
  });

  test('with call ids that were seen before gets new ones, for item and call alike', async () => {
    const call = (callId: string) => ({ call: { name: 'exec_command', arguments: {}, callId } });
    await using harness = await startHarness({
      replies: [{ output: [call('same'), call('same')] }, { output: [call('same'), call('fresh')] }],
    });
    await harness.streamer.sample(toRequest(), never);
    await harness.streamer.sample(toRequest(2), never);
    const toIds = harness.store.commits.map(({ items, calls }) => ({
      items: items.map((item) => ('call_id' in item ? item.call_id : item.type)),
      calls: calls.map(({ modelCallId }) => modelCallId),
    }));
    expect(toIds).toEqual([
      { items: ['same', 'same-2'], calls: ['same', 'same-2'] },
      { items: ['same-3', 'fresh'], calls: ['same-3', 'fresh'] },
    ]);
  });

  test('is stored without characters that a database refuses', async () => {
    await using harness = await startHarness({ replies: [{ output: [{ text: 'a\0b\uD800c' }] }] });
    await harness.streamer.sample(toRequest(), never);
    expect(harness.store.commits[0]?.items).toMatchObject([{ content: [{ text: 'a\uFFFDb\uFFFDc' }] }]);
  });
});

/** Ends each body a moment after the reply is complete, as real endpoints do. */
async function startLateEnding() {
  const sockets = new Set<unknown>();
  const completed = JSON.stringify({ type: 'response.completed', response: { id: 'resp_1' } });
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${completed}\n\n`, () => setTimeout(() => response.end(), 5));
    });
  });
  server.on('connection', (socket) => sockets.add(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { baseUrl: `http://127.0.0.1:${port}/v1`, sockets, [Symbol.asyncDispose]: close };
}

describe('the connection', () => {
  test('is kept from step to step, because each body is read to its end', async () => {
    await using endpoint = await startLateEnding();
    await using harness = await startHarness({
      replies: [],
      model: { endpoint: { baseUrl: endpoint.baseUrl } },
    });
    const steps = Array.from({ length: 20 }, (_value, index) => index + 1);
    for (const step of steps) await harness.streamer.sample(toRequest(step), never);
    expect(harness.store.commits.length).toBe(steps.length);
    expect(endpoint.sockets.size).toBeLessThan(steps.length / 2);
  });
});
