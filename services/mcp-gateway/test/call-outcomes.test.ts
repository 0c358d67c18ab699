import { describe, expect, test } from 'vitest';
import type { ToolOutcome } from '../src/tool-caller.ts';
import { toCall } from './call-log.ts';
import { setUp, toStable, type ToolScript } from './call-scripts.ts';
import { toAnswer } from './gateways.ts';

describe('a call of an MCP tool', () => {
  test('gets the decoded arguments and records the answer in the layout that models know', async () => {
    const seen: unknown[] = [];
    const { store, run } = setUp({
      mcp__docs__get: {
        effects: 'read',
        run: (request) => {
          seen.push(request.arguments);
          return toAnswer('found it');
        },
      },
    });
    store.add(toCall('1.1.0', { tool: 'mcp__docs__get', input: '{"id": 7}' }));
    expect(await run('1.1.0')).toEqual({ kind: 'finished', status: 'ok', outputTokens: 11 });
    expect(seen).toEqual([{ id: 7 }]);
    expect(store.outputs().map(toStable)).toEqual([
      { status: 'ok', text: 'Wall time: N seconds\nOutput:\nfound it' },
    ]);
  });

  test('records its progress in order, all of it before the output', async () => {
    const { store, run } = setUp({
      mcp__docs__get: {
        effects: 'read',
        run: ({ onProgress }) => {
          onProgress({ progress: 1, total: 2 });
          onProgress({ progress: 2, total: 2, message: 'done' });
          return toAnswer('ok');
        },
      },
    });
    store.add(toCall('1.1.0', { tool: 'mcp__docs__get' }));
    await run('1.1.0');
    expect(store.written.map((entry) => (entry.kind === 'output' ? entry.kind : entry))).toEqual([
      { kind: 'progress', callId: '1.1.0', fence: 1, progress: 1, total: 2 },
      { kind: 'progress', callId: '1.1.0', fence: 1, progress: 2, total: 2, message: 'done' },
      'output',
    ]);
  });

  test('keeps the whole of an answer that is too long for the model', async () => {
    const line = `${'x'.repeat(99)}\n`;
    const { store, run } = setUp({
      mcp__docs__get: { effects: 'read', run: () => toAnswer(line.repeat(1_000)) },
    });
    store.add(toCall('1.1.0', { tool: 'mcp__docs__get' }));
    await run('1.1.0');
    const [output] = store.outputs();
    expect(output?.text.split('\n').slice(1, 5)).toEqual([
      'Output:',
      'Warning: truncated output (original token count: 25000)',
      'Total output lines: 1000',
      '',
    ]);
    expect(output?.full).toMatchObject({ size: 100_000, mediaType: 'text/plain' });
    expect(store.blobs.get(output?.full?.digest ?? '')).toBe(line.repeat(1_000));
  });

  test.for([
    [
      'not JSON',
      'failed to parse function arguments: Unexpected token \'o\', "not JSON" is not valid JSON; send one JSON object, for example {"query": "text"}',
    ],
    [
      '[1]',
      'failed to parse function arguments: they must be one JSON object, for example {"query": "text"}',
    ],
  ])('with the arguments %s is answered with a sentence and not sent', async ([input, text]) => {
    const { store, tools, run } = setUp({ mcp__docs__get: { effects: 'read', run: () => toAnswer('ok') } });
    store.add(toCall('1.1.0', { tool: 'mcp__docs__get', input: input ?? '' }));
    await run('1.1.0');
    expect(store.outputs().map(toStable)).toEqual([{ status: 'failed', text }]);
    expect(tools.ran).toEqual([]);
  });

  test.for<[string, ToolOutcome | undefined, 'read' | 'execute', { status: string; text: string }]>([
    ['mcp__docs__none', undefined, 'read', { status: 'failed', text: 'unsupported call: mcp__docs__none' }],
    [
      'mcp__away__x',
      undefined,
      'read',
      {
        status: 'failed',
        text: 'MCP server "away" is not available: it answered HTTP 500. Nothing was run; try again later or go on without it.',
      },
    ],
    [
      'mcp__docs__do',
      { kind: 'answered', answer: { content: [{ type: 'text', text: 'no such page' }], failed: true } },
      'execute',
      { status: 'failed', text: 'Wall time: N seconds\nOutput:\nno such page' },
    ],
    [
      'mcp__docs__do',
      {
        kind: 'answered',
        answer: { content: [{ type: 'text', text: 'seven' }], structuredContent: { n: 7 }, failed: false },
      },
      'execute',
      { status: 'ok', text: 'Wall time: N seconds\nOutput:\n{"n":7}' },
    ],
    [
      'mcp__docs__do',
      { kind: 'refused', reason: 'it answered: no' },
      'execute',
      { status: 'failed', text: 'MCP server "docs" did not run the call: it answered: no.' },
    ],
    [
      'mcp__docs__do',
      { kind: 'needs-client', request: 'sampling/createMessage' },
      'execute',
      {
        status: 'failed',
        text: 'MCP server "docs" asked for sampling/createMessage during the call, which Holdfast cannot give it; use another tool.',
      },
    ],
    [
      'mcp__docs__do',
      { kind: 'lost', reason: 'its process ended (SIGKILL)' },
      'execute',
      {
        status: 'unknown',
        text: 'It is not known whether this call took effect; look before doing it again. MCP server "docs" was lost during the call: its process ended (SIGKILL).',
      },
    ],
    [
      'mcp__docs__do',
      { kind: 'timed-out', limitMs: 300_000 },
      'execute',
      {
        status: 'unknown',
        text: 'It is not known whether this call took effect; look before doing it again. MCP server "docs" did not answer within 300 s and was told to stop.',
      },
    ],
    [
      'mcp__docs__do',
      { kind: 'timed-out', limitMs: 1_000 },
      'read',
      {
        status: 'failed',
        text: 'MCP server "docs" did not answer within 1 s and was told to stop. The tool only reads; it may be called again.',
      },
    ],
  ])('of %s that ends as %j says so to the model (%s)', async ([tool, outcome, effects, expected]) => {
    const { store, run } = setUp({ mcp__docs__do: { effects, run: () => outcome ?? toAnswer('') } });
    store.add(toCall('1.1.0', { tool }));
    expect(await run('1.1.0')).toMatchObject({ kind: 'finished', status: expected.status });
    expect(store.outputs().map(toStable)).toEqual([expected]);
  });
});

describe('approval', () => {
  const scripts: Record<string, ToolScript> = {
    mcp__docs__get: { effects: 'read', run: () => toAnswer('read') },
    mcp__docs__drop: { effects: 'execute', run: () => toAnswer('dropped') },
  };

  test('is asked for, once, before a tool that acts', async () => {
    const { store, tools, run } = setUp(scripts);
    store.add(toCall('1.1.0', { tool: 'mcp__docs__drop', input: '{\n "id": 1 }', approvalPolicy: 'always' }));
    const waiting = { kind: 'awaiting-approval', approvalId: 'ap_1.1.0' };
    expect([await run('1.1.0'), await run('1.1.0')]).toEqual([waiting, waiting]);
    expect(store.written).toEqual([
      { kind: 'question', callId: '1.1.0', question: 'Call mcp__docs__drop with { "id": 1 }?' },
    ]);
    store.accept('1.1.0');
    expect(await run('1.1.0')).toMatchObject({ kind: 'finished', status: 'ok' });
    expect(tools.ran).toEqual(['mcp__docs__drop']);
  });

  test('is not needed by a tool that reads, nor by a session that asks never', async () => {
    const { store, run } = setUp(scripts);
    store.add(toCall('1.1.0', { tool: 'mcp__docs__get', approvalPolicy: 'always' }));
    store.add(toCall('1.1.1', { tool: 'mcp__docs__drop', approvalPolicy: 'never' }));
    expect([await run('1.1.0'), await run('1.1.1')]).toMatchObject([{ status: 'ok' }, { status: 'ok' }]);
  });
});
