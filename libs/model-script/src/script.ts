// script.ts: what a script looks like and how its text becomes one. Which reply plays when: selection.ts.
import { z } from 'zod';

const text = z.string();
const count = z.int().min(0);
const milliseconds = z.number().min(0);
const name = z.string().min(1);

const matchSchema = z.strictObject({
  /** The requested model is exactly this one. */
  model: name.optional(),
  /** The last user message contains this text. */
  lastUserContains: name.optional(),
  /** Some string of the instructions or of the input contains this text. */
  inputContains: name.optional(),
  /** The input holds an output of the call with this call id, or of a call of the tool with this name. */
  hasToolOutputFor: name.optional(),
  /** How many times user messages followed something the model said; 0 in the first turn. */
  turn: count.optional(),
  /** How many replies of the model the input holds; 0 in the first request. */
  reply: count.optional(),
});

const callSchema = z.strictObject({
  name,
  arguments: z.union(
    [text, z.record(z.string(), z.unknown())],
    'expected an object, or a string that is sent as it is',
  ),
  namespace: name.optional(),
  callId: name.optional(),
});
const customSchema = z.strictObject({ name, input: text, callId: name.optional() });
const localShellSchema = z.strictObject({
  command: z.array(text).min(1),
  workingDirectory: text.optional(),
  timeoutMs: milliseconds.optional(),
  callId: name.optional(),
});

type FunctionCallPart = z.infer<typeof callSchema>;
type CustomCallPart = z.infer<typeof customSchema>;
type LocalShellPart = z.infer<typeof localShellSchema>;
export type OutputPart =
  | { text: string }
  | { reasoning: string }
  | { call: FunctionCallPart }
  | { custom: CustomCallPart }
  | { localShell: LocalShellPart };

// One object with optional fields, not a union of objects: so a wrong field is named by its own path.
const partSchema = z
  .strictObject({
    text: text.optional(),
    reasoning: text.optional(),
    call: callSchema.optional(),
    custom: customSchema.optional(),
    localShell: localShellSchema.optional(),
  })
  .transform((part, context): OutputPart => {
    if (Object.values(part).filter((value) => value !== undefined).length === 1) {
      if (part.text !== undefined) return { text: part.text };
      if (part.reasoning !== undefined) return { reasoning: part.reasoning };
      if (part.call) return { call: part.call };
      if (part.custom) return { custom: part.custom };
      if (part.localShell) return { localShell: part.localShell };
    }
    context.addIssue({
      code: 'custom',
      message: 'expected exactly one of text, reasoning, call, custom, localShell',
    });
    return z.NEVER;
  });

const timesSchema = z.union(
  [z.int().min(1), z.literal('always')],
  "expected a whole number from 1, or 'always'",
);
const cutSchema = z.strictObject({ afterChunks: count, clean: z.boolean().optional() });
const idleSchema = z.strictObject({ afterChunks: count });
const errorSchema = z.strictObject({ code: name, message: name, afterChunks: count.optional() });

/** How often it happens before the reply plays normally; 1 when absent. Counted per session, forgotten at a restart. */
type FailureTimes = z.infer<typeof timesSchema>;
export type ScriptedFailure = { times?: FailureTimes | undefined } & (
  | {
      status: number;
      code?: string | undefined;
      message?: string | undefined;
      retryAfterSeconds?: number | undefined;
    }
  | { cut: z.infer<typeof cutSchema> }
  | { idle: z.infer<typeof idleSchema> }
  | { error: z.infer<typeof errorSchema> }
);

const failureSchema = z
  .strictObject({
    /** An HTTP error instead of a stream. */
    status: z.int().min(400).max(599).optional(),
    code: name.optional(),
    message: name.optional(),
    retryAfterSeconds: z.number().min(0).optional(),
    /**
     * The stream ends right after so many delta events, or just before `response.completed` when the reply has fewer:
     * the connection breaks, or ends regularly when `clean`.
     */
    cut: cutSchema.optional(),
    /** Likewise, but the stream stays open and silent until the client leaves or the server closes. */
    idle: idleSchema.optional(),
    /** Likewise, but `response.failed` is the end; without `afterChunks` no output comes before it. */
    error: errorSchema.optional(),
    times: timesSchema.optional(),
  })
  .transform((failure, context): ScriptedFailure => {
    const { status, code, message, retryAfterSeconds, cut, idle, error, times } = failure;
    const kinds = [status, cut, idle, error].filter((kind) => kind !== undefined).length;
    const hasHttpFields = code !== undefined || message !== undefined || retryAfterSeconds !== undefined;
    if (kinds === 1 && status !== undefined) return { status, code, message, retryAfterSeconds, times };
    if (kinds === 1 && !hasHttpFields) {
      if (cut) return { cut, times };
      if (idle) return { idle, times };
      if (error) return { error, times };
    }
    context.addIssue({
      code: 'custom',
      message:
        kinds === 1
          ? 'code, message and retryAfterSeconds belong to status'
          : 'expected exactly one of status, cut, idle, error',
    });
    return z.NEVER;
  });

const replySchema = z.strictObject({
  when: matchSchema.optional(),
  output: z.array(partSchema),
  /** Tokens; what is absent is estimated from sizes, four bytes a token. */
  usage: z
    .strictObject({
      inputTokens: count.optional(),
      cachedTokens: count.optional(),
      outputTokens: count.optional(),
      reasoningTokens: count.optional(),
    })
    .optional(),
  /** Wait before the first byte. */
  delayMs: milliseconds.optional(),
  /** `size` in characters a delta (absent: one delta a part), `delayMs` between two deltas. */
  chunk: z.strictObject({ size: z.int().min(1).optional(), delayMs: milliseconds.optional() }).optional(),
  fail: failureSchema.optional(),
  /** Sent as `end_turn` of the completed response; false makes the agent ask again although no call was made. */
  endTurn: z.boolean().optional(),
  /** The named gate holds the answer before its first byte. */
  gate: name.optional(),
  /** The named gate holds the answer after its first delta (before `response.completed` when there is none). */
  midGate: name.optional(),
});

const scriptSchema = z.strictObject({
  name: name.optional(),
  /** Shown by `GET /models`; requests for any model are answered. */
  model: name.optional(),
  replies: z.array(replySchema).min(1),
  /** Start again after the last reply instead of failing. */
  loop: z.boolean().optional(),
});

export type Match = z.infer<typeof matchSchema>;
export type Reply = z.infer<typeof replySchema>;
export type Script = z.infer<typeof scriptSchema>;

/** A script text that is not one. `message` is one sentence for the person who wrote it. */
export class ScriptInvalid extends Error {
  override readonly name = 'ScriptInvalid';
  readonly code = 'input.invalid';
}

/**
 * Reads a script from JSON text. `source` names the text in messages, usually the file's path.
 * Throws `ScriptInvalid`: where the first wrong field is, and what is wrong with it.
 */
export function parseScript(json: string, source: string): Script {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ScriptInvalid(`The script ${source} is not JSON: ${reason}.`, { cause: error });
  }
  const result = scriptSchema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = toPathText(issue?.path ?? []);
  throw new ScriptInvalid(`The script ${source} is wrong at ${path}: ${toSentencePart(issue)}.`);
}

function toPathText(path: readonly PropertyKey[]): string {
  const parts = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`));
  return parts.join('').replace(/^\./, '') || 'its top level';
}

function toSentencePart(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === 'unrecognized_keys')
    return `there is no field ${issue.keys.map((key) => `"${key}"`).join(', ')} here`;
  const message = issue?.message ?? 'unknown problem';
  return message.charAt(0).toLowerCase() + message.slice(1);
}
