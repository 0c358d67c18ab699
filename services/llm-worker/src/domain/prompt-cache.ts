// prompt-cache.ts: the items of recent sessions, so that a step fetches only what is new since the step before.
// C1  A prompt never changes: two attempts of one step may hold it at the same time.
// C2  Losing an entry costs one full fetch and nothing else.
import type { OpenedStep } from '@holdfast/agent-loop';
import type { Item, SessionId } from '@holdfast/protocol';

/** All items of a session up to `seq` of `epoch`. */
export type Prompt = { epoch: number; seq: number; items: readonly Item[]; bytes: number };

export type PromptCache = {
  find(sessionId: SessionId): Prompt | undefined;
  /** Joins what was cached with what the store sent, keeps and returns it. */
  extend(sessionId: SessionId, base: Prompt | undefined, opened: OpenStepItems): Prompt;
};

type OpenStepItems = Pick<Extract<OpenedStep, { kind: 'open' }>, 'epoch' | 'reset' | 'items'>;

export type PromptCacheLimits = { maxBytes: number; maxSessions: number };

const defaultLimits: PromptCacheLimits = { maxBytes: 256 * 1024 * 1024, maxSessions: 1000 };

/** Drops the sessions that were used longest ago when either limit is passed; a prompt over the limit is not kept at all. */
export function createPromptCache(limits: PromptCacheLimits = defaultLimits): PromptCache {
  const prompts = new Map<SessionId, Prompt>();
  let bytes = 0;
  const drop = (sessionId: SessionId) => {
    bytes -= prompts.get(sessionId)?.bytes ?? 0;
    prompts.delete(sessionId);
  };
  const keep = (sessionId: SessionId, prompt: Prompt) => {
    drop(sessionId);
    if (prompt.bytes > limits.maxBytes) return;
    prompts.set(sessionId, prompt);
    bytes += prompt.bytes;
    for (const oldest of prompts.keys()) {
      if (bytes <= limits.maxBytes && prompts.size <= limits.maxSessions) return;
      drop(oldest);
    }
  };
  return {
    find: (sessionId) => prompts.get(sessionId),
    extend(sessionId, base, opened) {
      const prompt = toPrompt(opened.reset ? undefined : base, opened);
      keep(sessionId, prompt);
      return prompt;
    },
  };
}

function toPrompt(base: Prompt | undefined, { epoch, items }: OpenStepItems): Prompt {
  const known = base ?? { seq: 0, items: [], bytes: 0 };
  if (items.length === 0) return { ...known, epoch };
  const added = items.map((stored) => stored.item);
  return {
    epoch,
    seq: items.at(-1)?.seq ?? known.seq,
    items: known.items.length === 0 ? added : [...known.items, ...added],
    bytes: added.reduce((sum, item) => sum + toItemBytes(item), known.bytes),
  };
}

// A string takes at most two bytes a character; objects and short fields are covered by a flat sum.
const bytesPerCharacter = 2;
const itemOverheadBytes = 256;

function toItemBytes(item: Item): number {
  return itemOverheadBytes + bytesPerCharacter * toCharacters(item);
}

function toCharacters(item: Item): number {
  switch (item.type) {
    case 'message':
      return item.content.reduce((sum, part) => sum + part.text.length, 0);
    case 'reasoning':
      return item.summary.reduce((sum, part) => sum + part.text.length, item.encrypted_content?.length ?? 0);
    case 'function_call':
      return item.arguments.length;
    case 'custom_tool_call':
      return item.input.length;
    case 'web_search_call':
      return JSON.stringify(item).length;
    case 'function_call_output':
    case 'custom_tool_call_output':
      return item.output.length;
  }
}
