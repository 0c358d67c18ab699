import type { EventBody, SessionEvent } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { createJsonlAdapter, type JsonlLine } from '../src/index.ts';

const sessionId = '0f9a3c52-6f0c-4bb8-9a53-6f1c7a7d2a11';

function toLines(bodies: readonly EventBody[]): JsonlLine[] {
  const adapter = createJsonlAdapter(sessionId);
  const events = bodies.map((body, index): SessionEvent =>
    Object.assign({ seq: index + 1, sessionId, turnId: 't', at: '2026-11-21T10:00:00.000Z' }, body),
  );
  return [adapter.start(), ...events.flatMap((event) => adapter.toLines(event))];
}

const starting: EventBody = {
  type: 'status',
  status: 'starting',
  ordinal: 1,
  input: { inputId: 't', text: 'go' },
};
const completed: EventBody = { type: 'status', status: 'completed' };
const usage = (step: number, inputTokens: number): EventBody => ({
  type: 'usage',
  step,
  responseId: `r${step}`,
  usage: { inputTokens, cachedInputTokens: 10, outputTokens: 5, reasoningOutputTokens: 2 },
  contextTokens: inputTokens,
});
const output = (text: string) =>
  `Chunk ID: a1b2c3\nWall time: 0.3018 seconds\nProcess exited with code 0\nOriginal token count: 1\nOutput:\n${text}`;

const begin: JsonlLine[] = [{ type: 'thread.started', thread_id: sessionId }, { type: 'turn.started' }];
const noTokens = {
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_input_tokens: 0,
  output_tokens: 0,
  reasoning_output_tokens: 0,
};

describe('the JSONL of exec', () => {
  test('shows reasoning, a command, a patch and the answer, and sums the usage of the turn', () => {
    const lines = toLines([
      starting,
      { type: 'step', step: 1, status: 'started' },
      { type: 'reasoning', step: 1, text: 'look first' },
      usage(1, 100),
      { type: 'tool_call', step: 1, callId: '1.1.0', tool: 'exec_command', input: '{"cmd":"ls"}' },
      {
        type: 'tool_result',
        callId: '1.1.0',
        tool: 'exec_command',
        status: 'ok',
        text: output('a.js\n'),
        durationMs: 3,
        exitCode: 0,
      },
      { type: 'step', step: 1, status: 'completed' },
      { type: 'step', step: 2, status: 'started' },
      usage(2, 200),
      { type: 'tool_call', step: 2, callId: '1.2.0', tool: 'apply_patch', input: '*** Begin Patch' },
      {
        type: 'tool_result',
        callId: '1.2.0',
        tool: 'apply_patch',
        status: 'ok',
        text: 'Success.',
        durationMs: 3,
        changes: [{ path: '/w/a.js', kind: 'update' }],
      },
      { type: 'step', step: 2, status: 'completed' },
      { type: 'step', step: 3, status: 'started' },
      { type: 'text', step: 3, text: 'done' },
      usage(3, 300),
      { type: 'step', step: 3, status: 'completed' },
      completed,
    ]);
    expect(lines).toEqual([
      ...begin,
      { type: 'item.completed', item: { id: 'item_0', type: 'reasoning', text: 'look first' } },
      {
        type: 'item.started',
        item: {
          id: 'item_1',
          type: 'command_execution',
          command: 'ls',
          aggregated_output: '',
          exit_code: null,
          status: 'in_progress',
        },
      },
      {
        type: 'item.completed',
        item: {
          id: 'item_1',
          type: 'command_execution',
          command: 'ls',
          aggregated_output: 'a.js\n',
          exit_code: 0,
          status: 'completed',
        },
      },
      {
        type: 'item.completed',
        item: {
          id: 'item_2',
          type: 'file_change',
          changes: [{ path: '/w/a.js', kind: 'update' }],
          status: 'completed',
        },
      },
      { type: 'item.completed', item: { id: 'item_3', type: 'agent_message', text: 'done' } },
      {
        type: 'turn.completed',
        usage: {
          input_tokens: 600,
          cached_input_tokens: 30,
          cache_write_input_tokens: 0,
          output_tokens: 15,
          reasoning_output_tokens: 6,
        },
      },
    ]);
  });

  test('shows MCP calls with their server, tool, arguments and result or error', () => {
    const call = (callId: string): EventBody => ({
      type: 'tool_call',
      step: 1,
      callId,
      tool: 'mcp__git_hub__list_issues',
      input: '{"repo":"a"}',
    });
    const result = (callId: string, status: 'ok' | 'denied', text: string): EventBody => ({
      type: 'tool_result',
      callId,
      tool: 'mcp__git_hub__list_issues',
      status,
      text,
      durationMs: 7,
    });
    const lines = toLines([
      starting,
      call('1.1.0'),
      call('1.1.1'),
      { type: 'mcp_progress', callId: '1.1.0', progress: 1, total: 2 },
      result('1.1.0', 'ok', 'Wall time: 0.0070 seconds\nOutput:\n[]'),
      result('1.1.1', 'denied', 'the person declined'),
      completed,
    ]);
    const item = (id: string) => ({
      id,
      type: 'mcp_tool_call',
      server: 'git_hub',
      tool: 'list_issues',
      arguments: { repo: 'a' },
      result: null,
      error: null,
      status: 'in_progress',
    });
    expect(lines).toEqual([
      ...begin,
      { type: 'item.started', item: item('item_0') },
      { type: 'item.started', item: item('item_1') },
      {
        type: 'item.completed',
        item: {
          ...item('item_0'),
          result: { content: [{ type: 'text', text: '[]' }], structured_content: null },
          status: 'completed',
        },
      },
      {
        type: 'item.completed',
        item: { ...item('item_1'), error: { message: 'the person declined' }, status: 'declined' },
      },
      { type: 'turn.completed', usage: noTokens },
    ]);
  });

  test('shows notes on the way, and completes what was open when the turn fails', () => {
    const lines = toLines([
      starting,
      {
        type: 'error',
        error: { code: 'model.stream-cut', message: 'The stream was cut.' },
        willRetry: true,
        attempt: 1,
      },
      { type: 'tool_call', step: 1, callId: '1.1.0', tool: 'exec_command', input: '{"cmd":"sleep 9"}' },
      {
        type: 'tool_call',
        step: 1,
        callId: '1.1.1',
        tool: 'apply_patch',
        input: '*** Begin Patch\n*** Delete File: b.js\n*** End Patch',
      },
      { type: 'status', status: 'waiting', reason: 'machine', detail: 'machine laptop' },
      { type: 'status', status: 'error', error: { code: 'model.failed', message: 'The model failed.' } },
    ]);
    const command = {
      id: 'item_0',
      type: 'command_execution',
      command: 'sleep 9',
      aggregated_output: '',
      exit_code: null,
    };
    expect(lines).toEqual([
      ...begin,
      { type: 'error', message: 'The stream was cut.' },
      { type: 'item.started', item: { ...command, status: 'in_progress' } },
      {
        type: 'item.completed',
        item: { id: 'item_2', type: 'error', message: 'Waiting for the machine: machine laptop' },
      },
      { type: 'item.completed', item: { ...command, status: 'failed' } },
      {
        type: 'item.completed',
        item: {
          id: 'item_1',
          type: 'file_change',
          changes: [{ path: 'b.js', kind: 'delete' }],
          status: 'failed',
        },
      },
      { type: 'turn.failed', error: { message: 'The model failed.' } },
    ]);
  });

  test('does not take a wait for a time for a trouble', () => {
    const until = {
      type: 'status',
      status: 'waiting',
      reason: 'sleep',
      detail: 'sleeping until noon',
    } as const;
    expect(
      createJsonlAdapter('s').toLines({ ...until, seq: 1, sessionId: 's', turnId: 't', at: '' }),
    ).toEqual([]);
  });

  test('keeps one to-do list for the plans of a turn', () => {
    const lines = toLines([
      starting,
      { type: 'tool_call', step: 1, callId: '1.1.0', tool: 'update_plan', input: '{}' },
      { type: 'plan', plan: [{ step: 'read', status: 'in_progress' }] },
      { type: 'plan', plan: [{ step: 'read', status: 'completed' }] },
      { type: 'status', status: 'cancelled' },
    ]);
    const item = (done: boolean) => ({
      id: 'item_0',
      type: 'todo_list',
      items: [{ text: 'read', completed: done }],
    });
    expect(lines).toEqual([
      ...begin,
      { type: 'item.started', item: item(false) },
      { type: 'item.updated', item: item(true) },
      { type: 'item.completed', item: item(true) },
      { type: 'turn.failed', error: { message: 'The turn was interrupted.' } },
    ]);
  });

  test('counts a command that exits with another code than 0 as failed', () => {
    const lines = toLines([
      { type: 'tool_call', step: 1, callId: '1.1.0', tool: 'exec_command', input: 'no json' },
      {
        type: 'tool_result',
        callId: '1.1.0',
        tool: 'exec_command',
        status: 'ok',
        text: output('x'),
        durationMs: 1,
        exitCode: 2,
      },
    ]);
    expect(lines.at(-1)).toEqual({
      type: 'item.completed',
      item: {
        id: 'item_0',
        type: 'command_execution',
        command: 'no json',
        aggregated_output: 'x',
        exit_code: 2,
        status: 'failed',
      },
    });
  });
});
