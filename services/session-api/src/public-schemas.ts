import type { BackgroundTerminal, UndoResult } from '@holdfast/protocol';
// public-schemas.ts: what the public door accepts and answers beyond the schemas it shares with the store. The OpenAPI document is
// made from these. Bodies are strict: a misspelt field is an error, not a setting that silently does nothing.
import {
  answersSchema,
  failureBodySchema,
  inputIdSchema,
  outputStyleSchema,
  sessionIdSchema,
  sessionSchema,
  toolProfileSchema,
} from '@holdfast/store-client';
import { z } from 'zod';

/** Postgres keeps neither NUL nor half a surrogate pair; the size is checked where the failure has a code of its own. */
const promptText = z
  .string()
  .min(1, 'must not be empty')
  .refine(
    (text) => !text.includes('\0') && text.isWellFormed(),
    'must be Unicode text without NUL characters',
  );

export const newSessionSchema = z.strictObject({
  sessionId: sessionIdSchema.exactOptional(),
  settings: z.strictObject({
    cwd: z.string().startsWith('/', 'must be an absolute path').exactOptional(),
    machine: z.string().min(1, 'must not be empty').exactOptional(),
    model: z.strictObject({
      name: z.string().min(1, 'must not be empty'),
      baseUrl: z.url('must be a URL').exactOptional(),
      apiKey: z.string().min(1, 'must not be empty').exactOptional(),
      script: z.string().exactOptional(),
      tools: toolProfileSchema.exactOptional(),
      outputStyle: outputStyleSchema.exactOptional(),
    }),
    approvalPolicy: z.enum(['never', 'always']).exactOptional(),
  }),
  requireOnline: z
    .boolean()
    .exactOptional()
    .describe('Refuse with machine.offline, instead of waiting for the machine, when it is offline now'),
  input: z.strictObject({ inputId: inputIdSchema, text: promptText }).exactOptional(),
});
export type NewSessionRequest = z.infer<typeof newSessionSchema>;

export const createdSessionSchema = sessionSchema.extend({ delivered: z.boolean().exactOptional() });

export const newInputSchema = z.strictObject({
  inputId: inputIdSchema,
  kind: z.enum(['prompt', 'steer']).default('prompt'),
  text: promptText,
});
export const inputReceiptSchema = z.object({ duplicate: z.boolean(), delivered: z.boolean() });
export const interruptSchema = z
  .strictObject({
    turnId: inputIdSchema
      .exactOptional()
      .describe('The turn that is meant; a repeat that names it never ends the turn after it'),
  })
  .nullish();
export const endedTurnSchema = z.object({
  turnId: inputIdSchema,
  status: z.enum(['completed', 'error', 'cancelled']),
});
export const decisionSchema = z.strictObject({
  decision: z.enum(['accept', 'decline']),
  answers: answersSchema
    .exactOptional()
    .describe('For an approval with questions, by their ids: the label of an option, or any other text'),
});
export const deliverySchema = z.object({ delivered: z.boolean() });

export const sessionParams = z.object({ sessionId: sessionIdSchema });
export const approvalParams = sessionParams.extend({ approvalId: z.string().min(1).max(200) });
export const blobParams = z.object({
  digest: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex'),
});

export const terminalParams = sessionParams.extend({ terminalId: z.coerce.number().int().min(0) });
export const terminalSchema = z.object({
  id: z.int().describe('As the model knows it'),
  command: z.string(),
  tty: z.boolean(),
  startedAt: z.string(),
  state: z.enum(['running', 'exited', 'killed', 'lost']),
  exitCode: z.int().exactOptional(),
}) satisfies z.ZodType<BackgroundTerminal>;

const undoConflict = z.object({ path: z.string(), reason: z.string() });
export const undoResultSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('undone'),
    ordinal: z.int(),
    restored: z.array(z.string()),
    left: z.array(undoConflict).describe('What could not be put back, and why'),
  }),
  z.object({ kind: z.literal('refused'), ordinal: z.int(), conflicts: z.array(undoConflict) }),
  z.object({ kind: z.literal('nothing'), reason: z.string() }),
]) satisfies z.ZodType<UndoResult>;

const after = z.coerce.number().int().min(0);
export const pageQuery = z.object({
  after: after.default(0),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
});
export const listQuery = z.object({ limit: z.coerce.number().int().min(1).max(1_000).default(50) });
export const streamQuery = z.object({ after: after.default(0) });

/** What every route may answer instead. */
export const failures = { '4xx': failureBodySchema, '5xx': failureBodySchema };
