// event-schemas.ts: the event contract as schemas; the reference page docs/reference/events.md is generated from here.
import type { EventBody, SessionEvent } from '@holdfast/protocol';
import { z } from 'zod';
import {
  blobRefSchema,
  callIdSchema,
  callStatusSchema,
  fileChangeSchema,
  inputIdSchema,
  noticeSchema,
  sessionIdSchema,
  usageSchema,
  waitingReasonSchema,
} from './schemas.ts';

const step = z.int().positive();

const bodies = [
  z.object({
    type: z.literal('status'),
    status: z.literal('starting'),
    ordinal: step,
    input: z.object({ inputId: inputIdSchema, text: z.string() }),
  }),
  z.object({
    type: z.literal('status'),
    status: z.literal('waiting'),
    reason: waitingReasonSchema,
    detail: z.string(),
  }),
  z.object({ type: z.literal('status'), status: z.enum(['completed', 'cancelled']) }),
  z.object({ type: z.literal('status'), status: z.literal('error'), error: noticeSchema }),
  z.object({ type: z.literal('step'), step, status: z.enum(['started', 'completed']) }),
  z.object({ type: z.literal('text'), step, text: z.string() }),
  z.object({ type: z.literal('reasoning'), step, text: z.string() }),
  z.object({
    type: z.literal('usage'),
    step,
    responseId: z.string(),
    usage: usageSchema,
    contextTokens: z.int().nonnegative(),
  }),
  z.object({ type: z.literal('tool_call'), step, callId: callIdSchema, tool: z.string(), input: z.string() }),
  z.object({
    type: z.literal('mcp_progress'),
    callId: callIdSchema,
    progress: z.number(),
    total: z.number().exactOptional(),
    message: z.string().exactOptional(),
  }),
  z.object({
    type: z.literal('tool_result'),
    callId: callIdSchema,
    tool: z.string(),
    status: callStatusSchema,
    text: z.string(),
    durationMs: z.number(),
    exitCode: z.int().exactOptional(),
    full: blobRefSchema.exactOptional(),
    image: blobRefSchema.exactOptional(),
    changes: z.array(fileChangeSchema).exactOptional(),
  }),
  z.object({
    type: z.literal('context'),
    change: z.enum(['tools-refreshed', 'machine-online']),
    detail: z.string(),
  }),
  z.object({ type: z.literal('message_injected'), inputId: inputIdSchema, text: z.string() }),
  z.object({
    type: z.literal('approval'),
    status: z.literal('requested'),
    approvalId: z.string(),
    callId: callIdSchema,
    tool: z.string(),
    question: z.string(),
  }),
  z.object({
    type: z.literal('approval'),
    status: z.literal('resolved'),
    approvalId: z.string(),
    callId: callIdSchema,
    decision: z.enum(['accept', 'decline']),
  }),
  z.object({
    type: z.literal('plan'),
    explanation: z.string().exactOptional(),
    plan: z.array(z.object({ step: z.string(), status: z.enum(['pending', 'in_progress', 'completed']) })),
  }),
  z.object({ type: z.literal('diff'), diff: z.string() }),
  z.object({ type: z.literal('error'), error: noticeSchema, willRetry: z.boolean(), attempt: step }),
] as const;

const eventBodySchema = z.union(bodies) satisfies z.ZodType<EventBody>;

const envelope = z.object({
  seq: z.int().positive(),
  sessionId: sessionIdSchema,
  turnId: inputIdSchema.nullable(),
  at: z.iso.datetime(),
});

export const sessionEventSchema = z.intersection(eventBodySchema, envelope) satisfies z.ZodType<SessionEvent>;
