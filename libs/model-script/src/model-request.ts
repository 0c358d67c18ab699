// model-request.ts: a Responses request as scripts see it, and the facts about a conversation that can be read from it.
import { toReplyNumber } from './reply-ids.ts';

export type InputItem = Readonly<Record<string, unknown>>;

export type ModelRequest = {
  model: string;
  stream: boolean;
  instructions: string;
  /** A plain string as input counts as one user message. */
  input: readonly InputItem[];
  /** Same for all requests of one session: `prompt_cache_key`, else the `session-id` header, else empty. */
  sessionKey: string;
  /** Encrypted reasoning was asked for (`include`). */
  wantsEncryptedReasoning: boolean;
  /** Size of the request body. */
  bytes: number;
};

/** Throws a `TypeError` with one sentence when the body is no Responses request. */
export function toModelRequest(raw: {
  body: unknown;
  bytes: number;
  sessionId: string | undefined;
}): ModelRequest {
  const { body } = raw;
  if (!isRecord(body)) throw new TypeError('The body is not a JSON object; send a Responses API request.');
  const { model, input, instructions, stream, include, prompt_cache_key: cacheKey } = body;
  if (typeof model !== 'string' || model === '')
    throw new TypeError('The field "model" is missing; name a model.');
  const items = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input;
  if (!Array.isArray(items) || !items.every((item) => isRecord(item))) {
    throw new TypeError('The field "input" is neither a string nor a list of items; send one of them.');
  }
  return {
    model,
    stream: stream === true,
    instructions: typeof instructions === 'string' ? instructions : '',
    input: items,
    sessionKey: typeof cacheKey === 'string' ? cacheKey : (raw.sessionId ?? ''),
    wantsEncryptedReasoning: Array.isArray(include) && include.includes('reasoning.encrypted_content'),
    bytes: raw.bytes,
  };
}

const modelItemTypes = new Set(['reasoning', 'function_call', 'custom_tool_call', 'local_shell_call']);

function toRole(item: InputItem): 'model' | 'user' | 'other' {
  const type = item['type'] ?? 'message';
  if (type !== 'message') return typeof type === 'string' && modelItemTypes.has(type) ? 'model' : 'other';
  if (item['role'] === 'assistant') return 'model';
  return item['role'] === 'user' ? 'user' : 'other';
}

/**
 * The replies that the input holds, in order, each by its number. A run of neighbouring model items without any number
 * (an assistant message that was sent back without its id) is one reply, given as undefined.
 */
export function toPlayedReplies(input: readonly InputItem[]): (number | undefined)[] {
  const played: (number | undefined)[] = [];
  let run: InputItem[] = [];
  const endRun = () => {
    const numbers = run.map((item) => toReplyNumber(item['id']) ?? toReplyNumber(item['call_id']));
    const known = numbers.filter((number) => number !== undefined);
    if (run.length > 0 && known.length === 0) played.push(undefined);
    for (const number of known) if (!played.includes(number)) played.push(number);
    run = [];
  };
  for (const item of input) {
    if (toRole(item) === 'model') run.push(item);
    else if (run.length > 0) endRun();
  }
  endRun();
  return played;
}

/** 0 until user messages follow something the model said, then one more each time that happens. */
export function toTurn(input: readonly InputItem[]): number {
  let turn = 0;
  let modelSpoke = false;
  for (const item of input) {
    const role = toRole(item);
    if (role === 'model') modelSpoke = true;
    if (role === 'user' && modelSpoke) {
      turn += 1;
      modelSpoke = false;
    }
  }
  return turn;
}

/** The text of the last user message; empty when there is none. */
export function toLastUserText(input: readonly InputItem[]): string {
  const content = input.findLast((item) => toRole(item) === 'user')?.['content'];
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => (isRecord(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('');
}

/** True when the input holds an output for this call id, or for a call of the tool with this name. */
export function hasToolOutputFor(input: readonly InputItem[], wanted: string): boolean {
  const calls = new Set(input.filter((item) => item['name'] === wanted).map((item) => item['call_id']));
  return input.some((item) => {
    const type = item['type'];
    if (typeof type !== 'string' || !type.endsWith('_output')) return false;
    return item['call_id'] === wanted || calls.has(item['call_id']);
  });
}

/** True when some string inside the value contains the text. */
export function containsText(value: unknown, wanted: string): boolean {
  if (typeof value === 'string') return value.includes(wanted);
  if (Array.isArray(value)) return value.some((entry) => containsText(entry, wanted));
  return isRecord(value) && Object.values(value).some((entry) => containsText(entry, wanted));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
