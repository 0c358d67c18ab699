import { toLastUserText, type ModelRequest } from './model-request.ts';
import type { Reply } from './script.ts';

// Enough to recognise one's own prompt.
const quotedCharacters = 200;

/** What answers when there is neither a script nor an API key: one honest text, no tool calls. */
export function answerWithoutModel(request: ModelRequest): Reply {
  const characters = Array.from(toLastUserText(request.input).trim());
  const quoted = characters.slice(0, quotedCharacters).join('');
  const rest = characters.length > quotedCharacters ? '…' : '';
  const text =
    'This is the scripted model built into Holdfast: OPENAI_API_KEY is not set, so no real model read your prompt and nothing was done. ' +
    `Set OPENAI_API_KEY and send it again. Your prompt was: "${quoted}${rest}"`;
  return { output: [{ text }] };
}
