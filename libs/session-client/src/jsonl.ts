// jsonl.ts: a session's events as the lines of `codex exec --json`, so that the Codex SDK and scripts written for Codex work.
// J1  Pure: the lines follow from the events alone; item ids count from `item_0` in the order in which items appear.
// J2  Every started item is completed, at the latest when its turn ends.
import { noUsage, type EventBody, type SessionEvent, type TokenUsage } from '@holdfast/protocol';
import { toEndedItem, toStartedItem, type ToolItem } from './jsonl-items.ts';

type JsonlItem = { id: string } & (
  | ToolItem
  | { type: 'agent_message' | 'reasoning'; text: string }
  | { type: 'todo_list'; items: { text: string; completed: boolean }[] }
  /** A note that does not end the turn. */
  | { type: 'error'; message: string }
);

type JsonlUsage = {
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_input_tokens: number;
  output_tokens: number;
  reasoning_output_tokens: number;
};

export type JsonlLine =
  | { type: 'thread.started'; thread_id: string }
  | { type: 'turn.started' }
  | { type: 'item.started' | 'item.updated' | 'item.completed'; item: JsonlItem }
  | { type: 'turn.completed'; usage: JsonlUsage }
  | { type: 'turn.failed'; error: { message: string } }
  | { type: 'error'; message: string };

type JsonlAdapter = {
  /** The first line of every output. */
  start(): JsonlLine;
  /** The lines that one event adds; most events add none or one. Events must come in order, each once. */
  toLines(event: SessionEvent): JsonlLine[];
};

type ToolCall = Extract<EventBody, { type: 'tool_call' }>;
type OpenCall = { id: string; call: ToolCall };
type State = { items: number; usage: TokenUsage; calls: Map<string, OpenCall>; plan?: JsonlItem };

export function createJsonlAdapter(sessionId: string): JsonlAdapter {
  const state: State = { items: 0, usage: noUsage, calls: new Map() };
  return {
    start: () => ({ type: 'thread.started', thread_id: sessionId }),
    toLines: (event) => toLines(state, event),
  };
}

function toLines(state: State, event: EventBody): JsonlLine[] {
  switch (event.type) {
    case 'status':
      return toStatusLines(state, event);
    case 'text':
      return event.text === '' ? [] : [complete(state, { type: 'agent_message', text: event.text })];
    case 'reasoning':
      return event.text === '' ? [] : [complete(state, { type: 'reasoning', text: event.text })];
    case 'usage':
      state.usage = addUsage(state.usage, event.usage);
      return [];
    case 'tool_call':
      return startCall(state, event);
    case 'tool_result': {
      const open = state.calls.get(event.callId);
      state.calls.delete(event.callId);
      return open
        ? [{ type: 'item.completed', item: { id: open.id, ...toEndedItem(open.call, event) } }]
        : [];
    }
    case 'plan':
      return updatePlan(state, event);
    case 'error':
      return event.willRetry ? [{ type: 'error', message: event.error.message }] : [];
    case 'step':
    case 'mcp_progress':
    case 'context':
    case 'message_injected':
    case 'approval':
    case 'diff':
      return [];
  }
}

function toStatusLines(state: State, event: Extract<EventBody, { type: 'status' }>): JsonlLine[] {
  switch (event.status) {
    case 'starting':
      state.usage = noUsage;
      return [{ type: 'turn.started' }];
    case 'waiting':
      return [complete(state, { type: 'error', message: toWaitingNote(event) })];
    case 'completed':
      return [...endItems(state), { type: 'turn.completed', usage: toJsonlUsage(state.usage) }];
    case 'cancelled':
      return [...endItems(state), { type: 'turn.failed', error: { message: 'The turn was interrupted.' } }];
    case 'error':
      return [...endItems(state), { type: 'turn.failed', error: { message: event.error.message } }];
  }
}

const waitingFor = {
  machine: 'the machine',
  approval: 'an approval',
  'api-limit': 'the model endpoint',
  network: 'the network',
} as const;

function toWaitingNote(event: Extract<EventBody, { status: 'waiting' }>): string {
  return `Waiting for ${waitingFor[event.reason]}: ${event.detail}`;
}

function startCall(state: State, call: ToolCall): JsonlLine[] {
  if (call.tool === 'update_plan') return [];
  const id = nextId(state);
  state.calls.set(call.callId, { id, call });
  const item = toStartedItem(call);
  return item ? [{ type: 'item.started', item: { id, ...item } }] : [];
}

/** One to-do list a turn: started by the first plan, updated by the others. */
function updatePlan(state: State, event: Extract<EventBody, { type: 'plan' }>): JsonlLine[] {
  const type = state.plan ? 'item.updated' : 'item.started';
  const items = event.plan.map(({ step, status }) => ({ text: step, completed: status === 'completed' }));
  state.plan = { id: state.plan?.id ?? nextId(state), type: 'todo_list', items };
  return [{ type, item: state.plan }];
}

function endItems(state: State): JsonlLine[] {
  const lines: JsonlLine[] = [];
  for (const { id, call } of state.calls.values()) {
    lines.push({ type: 'item.completed', item: { id, ...toEndedItem(call, undefined) } });
  }
  if (state.plan) lines.push({ type: 'item.completed', item: state.plan });
  state.calls.clear();
  delete state.plan;
  return lines;
}

function complete(
  state: State,
  item: { type: 'agent_message' | 'reasoning'; text: string } | { type: 'error'; message: string },
): JsonlLine {
  return { type: 'item.completed', item: { id: nextId(state), ...item } };
}

function nextId(state: State): string {
  const id = `item_${state.items}`;
  state.items += 1;
  return id;
}

function addUsage(sum: TokenUsage, more: TokenUsage): TokenUsage {
  return {
    inputTokens: sum.inputTokens + more.inputTokens,
    cachedInputTokens: sum.cachedInputTokens + more.cachedInputTokens,
    outputTokens: sum.outputTokens + more.outputTokens,
    reasoningOutputTokens: sum.reasoningOutputTokens + more.reasoningOutputTokens,
  };
}

/** Tokens written to a cache are not counted apart by Holdfast. */
function toJsonlUsage(usage: TokenUsage): JsonlUsage {
  return {
    input_tokens: usage.inputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    cache_write_input_tokens: 0,
    output_tokens: usage.outputTokens,
    reasoning_output_tokens: usage.reasoningOutputTokens,
  };
}
