// response-events.ts: a reply as the events of the Responses API, in the order in which the API sends them.
// E1  response.created, response.in_progress, then per output: item added, deltas, item done; last response.completed.
// E2  sequence_number counts all events from 0; the deltas of a part add up to the part.
// E3  Text is cut between characters, never inside one.
import { randomUUID } from 'node:crypto';
import type { ModelRequest } from './model-request.ts';
import { toReplyId } from './reply-ids.ts';
import type { OutputPart, Reply } from './script.ts';

type Item = { id: string; [field: string]: unknown };
type Fields = { [field: string]: unknown };
/** One server-sent event. `isDelta` marks what a script counts as a chunk. */
export type Frame = { text: string; isDelta: boolean };

export type ResponsePlan = {
  /** Everything before the last event. */
  frames: Frame[];
  completed: Frame;
  /** The last event of a response that failed after `sent` events. */
  toFailed(error: { code: string; message: string }, sent: number): Frame;
};

/** Builds all events of a reply. Pure apart from the response id (unique) and the clock. */
export function createResponsePlan(request: ModelRequest, reply: Reply, number: number): ResponsePlan {
  const writer = createWriter();
  const base = createResponse(request);
  writer.add('response.created', { response: base });
  writer.add('response.in_progress', { response: base });
  const output = reply.output.map((part, index) => {
    const item = toItem(part, { number, index, isEncrypted: request.wantsEncryptedReasoning });
    addItemEvents(writer, { part, item, index, size: reply.chunk?.size });
    return item;
  });
  const endTurn = reply.endTurn === undefined ? {} : { end_turn: reply.endTurn };
  const done = {
    status: 'completed',
    completed_at: toSeconds(),
    output,
    usage: toUsage(request, reply),
    ...endTurn,
  };
  return {
    frames: writer.frames,
    completed: toFrame('response.completed', writer.frames.length, { response: { ...base, ...done } }),
    toFailed: (error, sent) =>
      toFrame('response.failed', sent, { response: { ...base, status: 'failed', error } }),
  };
}

/** How many frames to send so that the given number of deltas is the end of it; all when there are fewer deltas. */
export function toFrameCount(frames: readonly Frame[], deltas: number): number {
  const places = frames.flatMap((frame, index) => (frame.isDelta ? [index] : []));
  if (deltas === 0) return places[0] ?? frames.length;
  const last = places[deltas - 1];
  return last === undefined ? frames.length : last + 1;
}

type Writer = ReturnType<typeof createWriter>;

function createWriter() {
  const frames: Frame[] = [];
  const add = (type: string, fields: Fields) => {
    frames.push(toFrame(type, frames.length, fields));
  };
  const addDeltas = (type: string, fields: Fields, parts: readonly string[]) => {
    for (const delta of parts)
      frames.push({ ...toFrame(type, frames.length, { ...fields, delta }), isDelta: true });
  };
  return { frames, add, addDeltas };
}

function toFrame(type: string, sequence: number, fields: Fields): Frame {
  const data = JSON.stringify({ type, sequence_number: sequence, ...fields });
  return { text: `event: ${type}\ndata: ${data}\n\n`, isDelta: false };
}

function toSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

function createResponse(request: ModelRequest): Fields {
  return {
    id: `resp_${randomUUID().replaceAll('-', '')}`,
    object: 'response',
    created_at: toSeconds(),
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: request.model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    usage: null,
  };
}

function toArgumentsText(value: string | Fields): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function toItem(part: OutputPart, place: { number: number; index: number; isEncrypted: boolean }): Item {
  const { number, index } = place;
  const toCallId = (chosen: string | undefined) => chosen ?? toReplyId('call', number, index);
  if ('text' in part) {
    const content = [{ type: 'output_text', annotations: [], logprobs: [], text: part.text }];
    return {
      id: toReplyId('message', number, index),
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content,
    };
  }
  if ('reasoning' in part) {
    const encrypted = place.isEncrypted
      ? { encrypted_content: Buffer.from(part.reasoning).toString('base64') }
      : {};
    const summary = [{ type: 'summary_text', text: part.reasoning }];
    return { id: toReplyId('reasoning', number, index), type: 'reasoning', summary, ...encrypted };
  }
  if ('call' in part) {
    const { name, namespace, callId } = part.call;
    return {
      id: toReplyId('function', number, index),
      type: 'function_call',
      status: 'completed',
      call_id: toCallId(callId),
      name,
      ...(namespace === undefined ? {} : { namespace }),
      arguments: toArgumentsText(part.call.arguments),
    };
  }
  if ('custom' in part) {
    const { name, input, callId } = part.custom;
    const id = toReplyId('custom', number, index);
    return { id, type: 'custom_tool_call', status: 'completed', call_id: toCallId(callId), name, input };
  }
  const { command, workingDirectory = null, timeoutMs = null, callId } = part.localShell;
  return {
    id: toReplyId('localShell', number, index),
    type: 'local_shell_call',
    status: 'completed',
    call_id: toCallId(callId),
    action: { type: 'exec', command, env: {}, working_directory: workingDirectory, timeout_ms: timeoutMs },
  };
}

type ItemEvents = { part: OutputPart; item: Item; index: number; size: number | undefined };

function addItemEvents(writer: Writer, events: ItemEvents): void {
  const { part, item, index, size } = events;
  const place = { item_id: item.id, output_index: index };
  const addItem = (empty: Fields) => {
    const status = 'status' in item ? { status: 'in_progress' } : {};
    writer.add('response.output_item.added', { output_index: index, item: { ...item, ...status, ...empty } });
  };
  if ('text' in part) {
    const at = { ...place, content_index: 0 };
    const content = { type: 'output_text', annotations: [], logprobs: [] };
    addItem({ content: [] });
    writer.add('response.content_part.added', { ...at, part: { ...content, text: '' } });
    writer.addDeltas('response.output_text.delta', { ...at, logprobs: [] }, toChunks(part.text, size));
    writer.add('response.output_text.done', { ...at, logprobs: [], text: part.text });
    writer.add('response.content_part.done', { ...at, part: { ...content, text: part.text } });
  } else if ('reasoning' in part) {
    const at = { ...place, summary_index: 0 };
    addItem({ summary: [] });
    writer.add('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } });
    writer.addDeltas('response.reasoning_summary_text.delta', at, toChunks(part.reasoning, size));
    writer.add('response.reasoning_summary_text.done', { ...at, text: part.reasoning });
    writer.add('response.reasoning_summary_part.done', {
      ...at,
      part: { type: 'summary_text', text: part.reasoning },
    });
  } else if ('call' in part) {
    const text = toArgumentsText(part.call.arguments);
    addItem({ arguments: '' });
    writer.addDeltas('response.function_call_arguments.delta', place, toChunks(text, size));
    writer.add('response.function_call_arguments.done', { ...place, name: part.call.name, arguments: text });
  } else if ('custom' in part) {
    addItem({ input: '' });
    writer.addDeltas('response.custom_tool_call_input.delta', place, toChunks(part.custom.input, size));
    writer.add('response.custom_tool_call_input.done', { ...place, input: part.custom.input });
  } else {
    addItem({});
  }
  writer.add('response.output_item.done', { output_index: index, item });
}

function toChunks(text: string, size: number | undefined): string[] {
  if (text === '') return [];
  if (size === undefined) return [text];
  const characters = Array.from(text);
  const chunks: string[] = [];
  for (let start = 0; start < characters.length; start += size)
    chunks.push(characters.slice(start, start + size).join(''));
  return chunks;
}

// The rule of thumb that Codex uses, too.
const bytesPerToken = 4;

function toUsage(request: ModelRequest, reply: Reply): Fields {
  const { usage = {} } = reply;
  const input = usage.inputTokens ?? Math.ceil(request.bytes / bytesPerToken);
  const output =
    usage.outputTokens ?? Math.ceil(Buffer.byteLength(JSON.stringify(reply.output)) / bytesPerToken);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cachedTokens ?? 0, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: input + output,
  };
}
