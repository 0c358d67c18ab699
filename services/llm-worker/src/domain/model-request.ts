// model-request.ts: the body of a Responses request, in the form that Codex sends.
import { readFileSync } from 'node:fs';
import type { Item, SessionId } from '@holdfast/protocol';
import type { RequestItem } from './request-images.ts';
import type { RequestTool } from './toolbox.ts';

export type ModelRequestBody = {
  model: string;
  stream: true;
  input: RequestItem[];
  tools: readonly RequestTool[];
  tool_choice: 'auto';
  parallel_tool_calls: true;
  reasoning?: { summary: 'auto' };
  store: false;
  include: ['reasoning.encrypted_content'];
  prompt_cache_key: SessionId;
};

const instructions = readFileSync(
  new URL('./../prompts/base-instructions.md', import.meta.url),
  'utf8',
).trim();

/** The first item of every request; always equal, so that providers cache it. */
const baseInstructions: Item = {
  type: 'message',
  role: 'developer',
  content: [{ type: 'input_text', text: instructions }],
};

/** Models that answer a request for reasoning summaries with an error are not asked for them. */
const summarisingModels = /^(?:gpt-[56]|o\d)/;

/** Items are sent as they are stored, ids included, with their images. */
export function toRequestBody(request: {
  sessionId: SessionId;
  model: string;
  items: readonly RequestItem[];
  tools: readonly RequestTool[];
}): ModelRequestBody {
  return {
    model: request.model,
    stream: true,
    input: [baseInstructions, ...request.items],
    tools: request.tools,
    tool_choice: 'auto',
    parallel_tool_calls: true,
    ...(hasSummaries(request.model) ? { reasoning: { summary: 'auto' as const } } : {}),
    store: false,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: request.sessionId,
  };
}

/** Routers put the vendor in front: `openai/gpt-5.5`. */
function hasSummaries(model: string): boolean {
  return summarisingModels.test(model.slice(model.lastIndexOf('/') + 1));
}
