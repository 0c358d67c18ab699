// reply-items.ts: what the API sends, reduced to what the store keeps and the next request needs.
// Compatible servers leave fields out that the API promises; nothing here relies on more than `type`, and `name` of a call.
import type { Item, MessageItem, TokenUsage } from '@holdfast/protocol';
import type {
  ResponseOutputItem,
  ResponseOutputMessage,
  ResponseReasoningItem,
  ResponseUsage,
} from 'openai/resources/responses/responses';

type LocalShellCall = Extract<ResponseOutputItem, { type: 'local_shell_call' }>;
type KeptItem = Extract<
  ResponseOutputItem,
  | { type: 'message' | 'reasoning' | 'function_call' | 'custom_tool_call' }
  | { type: 'local_shell_call' | 'web_search_call' }
>;

/** @returns undefined for items of tools that Holdfast never offers */
export function toReplyItem(output: ResponseOutputItem): Item | undefined {
  const item = output as KeptItem;
  switch (item.type) {
    case 'message':
      return toMessage(item);
    case 'reasoning':
      return toReasoning(item);
    case 'function_call': {
      const { type, call_id, name, namespace } = item;
      const place = namespace ? { namespace } : {};
      return {
        type,
        ...toId(item),
        call_id: call_id ?? '',
        name,
        ...place,
        arguments: toStorable(item.arguments),
      };
    }
    case 'custom_tool_call': {
      const { type, call_id, name } = item;
      return { type, ...toId(item), call_id: call_id ?? '', name, input: toStorable(item.input) };
    }
    case 'local_shell_call':
      return toShellCall(item);
    case 'web_search_call': {
      const { type, status, action } = item;
      const search = action ? { action: { ...action } } : {};
      return { type, ...toId(item), ...(status ? { status } : {}), ...search };
    }
  }
}

function toMessage(item: ResponseOutputMessage): MessageItem {
  const content = (item.content ?? []).map((part) => ({
    type: 'output_text' as const,
    text: toStorable(part.type === 'refusal' ? part.refusal : part.text),
  }));
  return { type: 'message', role: 'assistant', ...toId(item), content };
}

function toReasoning(item: ResponseReasoningItem): Item {
  const summary = (item.summary ?? []).map(({ text }) => ({
    type: 'summary_text' as const,
    text: toStorable(text),
  }));
  const encrypted = item.encrypted_content ? { encrypted_content: item.encrypted_content } : {};
  return { type: 'reasoning', ...toId(item), summary, ...encrypted };
}

/** A legacy form: kept as a function call, whose item id would not fit the id of the original. */
function toShellCall({ call_id, action }: LocalShellCall): Item {
  const input = {
    command: action.command,
    ...(action.working_directory ? { workdir: action.working_directory } : {}),
    ...(action.timeout_ms ? { timeout_ms: action.timeout_ms } : {}),
  };
  return {
    type: 'function_call',
    call_id: call_id ?? '',
    name: 'shell',
    arguments: toStorable(JSON.stringify(input)),
  };
}

function toId(item: { id?: string }): { id?: string } {
  return item.id ? { id: item.id } : {};
}

/** Postgres takes neither NUL nor half a surrogate pair; a model's text must not make a step impossible to commit. */
function toStorable(text: string | undefined): string {
  return (text ?? '').toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Zeros for what an endpoint does not report. */
export function toUsage(usage: ResponseUsage | null | undefined): TokenUsage {
  return {
    inputTokens: usage?.input_tokens ?? 0,
    cachedInputTokens: usage?.input_tokens_details?.cached_tokens ?? 0,
    outputTokens: usage?.output_tokens ?? 0,
    reasoningOutputTokens: usage?.output_tokens_details?.reasoning_tokens ?? 0,
  };
}
