// schemas.ts: the protocol types as zod schemas, for validation at the doors and for the OpenAPI documents.
// Each schema is checked against its protocol type by the compiler.
import type {
  Approval,
  BlobRef,
  CallDetail,
  CallOutput,
  CallRef,
  Catalog,
  Claim,
  Input,
  Item,
  Machine,
  MachineRegistration,
  Session,
  SessionSettings,
  StepReply,
  StoredItem,
  TokenUsage,
  ToolSpec,
  Turn,
  TurnEnd,
  WaitingReason,
} from '@holdfast/protocol';
import { z } from 'zod';

/** 1 MiB: larger prompts belong into a file of the workspace. */
export const promptLimitBytes = 1_048_576;

const digest = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex');
export const sessionIdSchema = z.uuid();
export const inputIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 characters of A-Z a-z 0-9 _ -');
export const callIdSchema = z.string().regex(/^\d+\.\d+\.\d+$/, 'must look like 1.2.0');
const count = z.int().nonnegative();
const time = z.iso.datetime();

export const inputSchema = z.object({
  inputId: inputIdSchema,
  kind: z.enum(['prompt', 'steer']),
  text: z
    .string()
    .min(1, 'must not be empty')
    .refine((text) => text.length <= promptLimitBytes, 'must be at most 1 MiB'),
}) satisfies z.ZodType<Input>;

export const blobRefSchema = z.object({
  digest,
  size: count,
  mediaType: z.string(),
}) satisfies z.ZodType<BlobRef>;

const callOutput = { call_id: z.string(), output: z.string(), image: blobRefSchema.exactOptional() };
const text = <T extends string>(type: T) => z.object({ type: z.literal(type), text: z.string() });
export const itemSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    role: z.enum(['user', 'developer', 'system', 'assistant']),
    content: z.array(z.union([text('input_text'), text('output_text')])),
    id: z.string().exactOptional(),
  }),
  z.object({
    type: z.literal('reasoning'),
    id: z.string().exactOptional(),
    summary: z.array(text('summary_text')),
    encrypted_content: z.string().nullable().exactOptional(),
  }),
  z.object({
    type: z.literal('function_call'),
    id: z.string().exactOptional(),
    call_id: z.string(),
    name: z.string(),
    namespace: z.string().exactOptional(),
    arguments: z.string(),
  }),
  z.object({
    type: z.literal('custom_tool_call'),
    id: z.string().exactOptional(),
    call_id: z.string(),
    name: z.string(),
    input: z.string(),
  }),
  z.object({
    type: z.literal('web_search_call'),
    id: z.string().exactOptional(),
    status: z.string().exactOptional(),
    action: z.record(z.string(), z.unknown()).exactOptional(),
  }),
  z.object({ type: z.literal('function_call_output'), ...callOutput }),
  z.object({ type: z.literal('custom_tool_call_output'), ...callOutput }),
]) satisfies z.ZodType<Item>;
export const storedItemSchema = z.object({ seq: count, item: itemSchema }) satisfies z.ZodType<StoredItem>;

export const usageSchema = z.object({
  inputTokens: count,
  cachedInputTokens: count,
  outputTokens: count,
  reasoningOutputTokens: count,
}) satisfies z.ZodType<TokenUsage>;

export const toolProfileSchema = z.enum(['codex', 'files', 'minimal']);
export const outputStyleSchema = z.enum(['tokens', 'lines']);
export const settingsSchema = z.object({
  cwd: z.string().startsWith('/', 'must be an absolute path'),
  machineId: z.string().min(1),
  model: z.object({
    name: z.string().min(1),
    endpoint: z.object({ baseUrl: z.url(), sealedKey: z.string().exactOptional() }).exactOptional(),
    script: z.string().exactOptional(),
    tools: toolProfileSchema.exactOptional(),
    outputStyle: outputStyleSchema.exactOptional(),
  }),
  approvalPolicy: z.enum(['never', 'always']),
}) satisfies z.ZodType<SessionSettings>;

export const sessionSchema = z.object({
  sessionId: sessionIdSchema,
  title: z.string(),
  state: z.enum(['idle', 'running', 'waiting', 'closed']),
  settings: settingsSchema,
  turns: count,
  runningTurn: inputIdSchema.exactOptional(),
  lastItemSeq: count,
  lastEventSeq: count,
  createdAt: time,
  updatedAt: time,
}) satisfies z.ZodType<Session>;

export const waitingReasonSchema = z.enum([
  'machine',
  'approval',
  'api-limit',
  'network',
]) satisfies z.ZodType<WaitingReason>;

export const noticeSchema = z.object({ code: z.string(), message: z.string() });
export const turnEndSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('completed') }),
  z.object({ kind: z.literal('cancelled') }),
  z.object({ kind: z.literal('error'), error: noticeSchema }),
]) satisfies z.ZodType<TurnEnd>;
export const terminalSchema = z.enum(['completed', 'error', 'cancelled']);

export const turnSchema = z.object({
  turnId: inputIdSchema,
  ordinal: count,
  status: z.enum(['running', 'completed', 'error', 'cancelled']),
  error: noticeSchema.exactOptional(),
  steps: count,
  usage: usageSchema,
  startedAt: time,
  endedAt: time.exactOptional(),
}) satisfies z.ZodType<Turn>;

const callPlacement = z.enum(['machine', 'gateway', 'workflow']);
const callRefSchema = z.object({
  callId: callIdSchema,
  tool: z.string(),
  placement: callPlacement,
  parallel: z.boolean(),
}) satisfies z.ZodType<CallRef>;
export const callStatusSchema = z.enum(['ok', 'failed', 'denied', 'aborted', 'unknown']);
export const fileChangeSchema = z.object({ path: z.string(), kind: z.enum(['add', 'update', 'delete']) });
export const callOutputSchema = z.object({
  status: callStatusSchema,
  text: z.string(),
  tokens: count,
  durationMs: z.number().nonnegative(),
  exitCode: z.int().exactOptional(),
  full: blobRefSchema.exactOptional(),
  image: blobRefSchema.exactOptional(),
  changes: z.array(fileChangeSchema).exactOptional(),
}) satisfies z.ZodType<CallOutput>;

export const newCallSchema = z.object({
  modelCallId: z.string().min(1),
  tool: z.string().min(1),
  placement: callPlacement,
  parallel: z.boolean(),
  form: z.enum(['function', 'freeform']),
  input: z.string(),
});

const callDetailSchema = z.object({
  sessionId: sessionIdSchema,
  turnId: inputIdSchema,
  callId: callIdSchema,
  modelCallId: z.string(),
  tool: z.string(),
  form: z.enum(['function', 'freeform']),
  input: z.string(),
  context: z.object({
    cwd: z.string(),
    approvalPolicy: z.enum(['never', 'always']),
    outputStyle: outputStyleSchema.exactOptional(),
  }),
}) satisfies z.ZodType<CallDetail>;

export const claimSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('run'),
    fence: count,
    call: callDetailSchema,
    approval: z.enum(['none', 'accepted']),
  }),
  z.object({
    kind: z.literal('resolve'),
    fence: count,
    call: callDetailSchema,
    previous: z.object({ machineId: z.string(), bootId: z.string() }),
  }),
  z.object({ kind: z.literal('awaiting-approval'), approvalId: z.string() }),
  z.object({ kind: z.literal('finished'), status: callStatusSchema, outputTokens: count }),
  z.object({ kind: z.literal('sealed') }),
]) satisfies z.ZodType<Claim>;

export const stepReplySchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('reply'),
    calls: z.array(callRefSchema),
    contextTokens: count,
    endTurn: z.boolean(),
  }),
  z.object({ kind: z.literal('sealed'), status: terminalSchema }),
]) satisfies z.ZodType<StepReply>;

const toolSpecSchema = z.object({
  name: z.string().min(1).max(128),
  description: z.string(),
  placement: z.enum([...callPlacement.options, 'model']),
  effects: z.enum(['none', 'read', 'write', 'execute']),
  supportsParallel: z.boolean(),
  profiles: z.array(toolProfileSchema).exactOptional(),
  form: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('function'), parameters: z.record(z.string(), z.unknown()) }),
    z.object({ kind: z.literal('freeform'), syntax: z.enum(['lark', 'regex']), definition: z.string() }),
    z.object({ kind: z.literal('hosted'), type: z.literal('web_search') }),
  ]),
}) satisfies z.ZodType<ToolSpec>;
export const catalogSchema = z.object({
  digest,
  tools: z.array(toolSpecSchema),
}) satisfies z.ZodType<Catalog>;

const capabilitiesSchema = z.object({
  platform: z.string(),
  arch: z.string(),
  hostname: z.string(),
  workspace: z.string(),
  protocol: count,
});
const machineIdentity = {
  machineId: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 characters of A-Z a-z 0-9 _ -'),
  kind: z.enum(['machine', 'gateway']),
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and dashes, at most 63'),
  bootId: z.string().min(1),
  capabilities: capabilitiesSchema,
};
export const registrationSchema = z.object({
  ...machineIdentity,
  replaces: z.string().exactOptional(),
  catalog: catalogSchema,
}) satisfies z.ZodType<MachineRegistration>;
export const machineSchema = z.object({
  ...machineIdentity,
  online: z.boolean(),
  lastSeenAt: time,
  tools: z.array(z.string()),
}) satisfies z.ZodType<Machine>;

export const approvalSchema = z.object({
  approvalId: z.string(),
  sessionId: sessionIdSchema,
  callId: callIdSchema,
  tool: z.string(),
  question: z.string(),
  decision: z.enum(['accept', 'decline']).exactOptional(),
}) satisfies z.ZodType<Approval>;

export { digest as digestSchema };
