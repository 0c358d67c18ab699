// items.ts: what the model sees, in the shape of the Responses API, so that a stored item is sent as it is; only
// images are kept beside the log and put in when a request is built.
// I1  Every call has exactly one output, and nothing stands between the calls of a step and their outputs but outputs.
// I2  Items are append-only; compaction and rollback are markers, never edits.
import type { Digest } from './ids.ts';

export type InputText = { type: 'input_text'; text: string };
export type OutputText = { type: 'output_text'; text: string };

export type MessageItem = {
  type: 'message';
  role: 'user' | 'developer' | 'system' | 'assistant';
  content: (InputText | OutputText)[];
  id?: string;
};

export type ReasoningItem = {
  type: 'reasoning';
  id?: string;
  summary: { type: 'summary_text'; text: string }[];
  /** Opaque to us; sent back so that a provider without stored responses keeps its chain of thought. */
  encrypted_content?: string | null;
};

export type FunctionCallItem = {
  type: 'function_call';
  id?: string;
  call_id: string;
  name: string;
  namespace?: string;
  /** JSON text exactly as the model wrote it; it may be malformed. */
  arguments: string;
};

/** A freeform call (Responses `custom` tools), for example `apply_patch`. */
export type CustomToolCallItem = {
  type: 'custom_tool_call';
  id?: string;
  call_id: string;
  name: string;
  input: string;
};

/** A search that the provider made while it answered; sent back as it came, because the reasoning before it refers to it. */
export type WebSearchCallItem = {
  type: 'web_search_call';
  id?: string;
  status?: string;
  action?: Record<string, unknown>;
};

/** `image` becomes a part of the output when a request is built, so that the log holds no image twice. */
export type FunctionCallOutputItem = {
  type: 'function_call_output';
  call_id: string;
  output: string;
  image?: BlobRef;
};
export type CustomToolCallOutputItem = {
  type: 'custom_tool_call_output';
  call_id: string;
  output: string;
  image?: BlobRef;
};

export type CallItem = FunctionCallItem | CustomToolCallItem;
export type CallOutputItem = FunctionCallOutputItem | CustomToolCallOutputItem;
export type Item = MessageItem | ReasoningItem | CallItem | WebSearchCallItem | CallOutputItem;

/** An item with its place in the session's log; `seq` starts at 1 and has no gaps. */
export type StoredItem = { seq: number; item: Item };

/** Large content kept beside the log; `size` in bytes. */
export type BlobRef = { digest: Digest; size: number; mediaType: string };

export function isCallItem(item: Item): item is CallItem {
  return item.type === 'function_call' || item.type === 'custom_tool_call';
}

export function toUserMessage(text: string): MessageItem {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

export function toMessageText(item: MessageItem): string {
  return item.content.map((part) => part.text).join('');
}
