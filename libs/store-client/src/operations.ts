// operations.ts: the internal API of the history store as data: one row an operation, `POST /v1/<operation>` with a JSON body.
// Server, client and the OpenAPI document are all made from this table. Blobs travel as raw bytes on routes of their own.
import type { HistoryStore } from '@holdfast/agent-loop';
import { z } from 'zod';
import { sessionEventSchema } from './event-schemas.ts';
import {
  approvalSchema,
  callIdSchema,
  callOutputSchema,
  callStatusSchema,
  catalogSchema,
  claimSchema,
  digestSchema,
  inputIdSchema,
  inputSchema,
  itemSchema,
  machineSchema,
  newCallSchema,
  noticeSchema,
  registrationSchema,
  sessionIdSchema,
  sessionSchema,
  settingsSchema,
  stepReplySchema,
  storedItemSchema,
  terminalSchema,
  turnEndSchema,
  turnSchema,
  usageSchema,
  waitingReasonSchema,
} from './schemas.ts';

const sessionId = sessionIdSchema;
const turnId = inputIdSchema;
const callId = callIdSchema;
const fence = z.int().nonnegative();
const step = z.int().positive();
const page = { after: z.int().nonnegative(), limit: z.int().min(1).max(1000) };
const nothing = z.object({});
const lease = z.object({ leaseMs: z.int() });
const bootId = z.string().min(1);
const machineId = z.string().min(1);
const finished = z.object({ status: callStatusSchema, outputTokens: z.int().nonnegative() });

const openedStep = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('open'),
    fence,
    ordinal: step,
    epoch: z.int().nonnegative(),
    reset: z.boolean(),
    items: z.array(storedItemSchema),
    settings: settingsSchema,
    catalogs: z.array(digestSchema),
  }),
  z.object({ kind: z.literal('committed'), reply: stepReplySchema }),
  z.object({ kind: z.literal('sealed'), status: terminalSchema }),
]);

export type StoreOperation = Exclude<keyof HistoryStore, 'putBlob' | 'readBlob'>;

export const operations = {
  createSession: {
    request: z.object({
      sessionId,
      title: z.string(),
      settings: settingsSchema,
      context: z.array(itemSchema),
    }),
    response: sessionSchema,
  },
  readSession: { request: z.object({ sessionId }), response: sessionSchema },
  listSessions: { request: z.object({ limit: z.int().min(1).max(1000) }), response: z.array(sessionSchema) },
  closeSession: { request: z.object({ sessionId }), response: sessionSchema },
  addInput: {
    request: z.object({ sessionId, input: inputSchema }),
    response: z.object({ duplicate: z.boolean() }),
  },
  listPendingInputs: {
    request: z.object({ quietMs: z.int().nonnegative(), ...page }),
    response: z.array(
      z.object({
        position: z.int().positive(),
        sessionId,
        input: inputSchema.pick({ inputId: true, kind: true }),
      }),
    ),
  },
  listTurns: { request: z.object({ sessionId }), response: z.array(turnSchema) },
  readItems: { request: z.object({ sessionId, ...page }), response: z.array(storedItemSchema) },
  readEvents: { request: z.object({ sessionId, ...page }), response: z.array(sessionEventSchema) },
  openStep: {
    request: z.object({
      sessionId,
      turnId,
      step,
      inputs: z.array(inputIdSchema),
      have: z.object({ epoch: z.int(), seq: z.int() }).exactOptional(),
      refreshTools: z.boolean().exactOptional(),
    }),
    response: openedStep,
  },
  commitStep: {
    request: z.object({
      sessionId,
      turnId,
      step,
      fence,
      ordinal: step,
      responseId: z.string().min(1),
      items: z.array(itemSchema),
      calls: z.array(newCallSchema),
      usage: usageSchema,
      contextTokens: z.int().nonnegative(),
      endTurn: z.boolean(),
    }),
    response: stepReplySchema,
  },
  noteFailure: {
    request: z.object({
      sessionId,
      turnId,
      step,
      fence,
      error: noticeSchema,
      willRetry: z.boolean(),
      waiting: waitingReasonSchema.exactOptional(),
    }),
    response: nothing,
  },
  claimCall: { request: z.object({ sessionId, callId, machineId, bootId }), response: claimSchema },
  askApproval: {
    request: z.object({ sessionId, callId, fence, question: z.string() }),
    response: z.object({ approvalId: z.string() }),
  },
  decideApproval: {
    request: z.object({ sessionId, approvalId: z.string(), decision: z.enum(['accept', 'decline']) }),
    response: approvalSchema,
  },
  appendProgress: {
    request: z.object({
      sessionId,
      callId,
      fence,
      progress: z.number(),
      total: z.number().exactOptional(),
      message: z.string().exactOptional(),
    }),
    response: nothing,
  },
  finishCall: {
    request: z.object({ sessionId, callId, fence, output: callOutputSchema }),
    response: finished,
  },
  settleCall: { request: z.object({ sessionId, callId, output: callOutputSchema }), response: finished },
  sealTurn: {
    request: z.object({ sessionId, turnId, end: turnEndSchema }),
    response: z.object({ status: terminalSchema }),
  },
  noteWaiting: {
    request: z.object({
      sessionId,
      turnId,
      reason: waitingReasonSchema,
      detail: z.string(),
    }),
    response: nothing,
  },
  registerMachine: { request: registrationSchema, response: lease },
  renewLease: { request: z.object({ machineId, bootId }), response: lease },
  releaseLease: { request: z.object({ machineId, bootId }), response: nothing },
  listMachines: { request: nothing, response: z.array(machineSchema) },
  readCatalog: { request: z.object({ digest: digestSchema }), response: catalogSchema },
} satisfies Record<StoreOperation, { request: z.ZodType; response: z.ZodType }>;

/** The JSON body of a failed request, on every HTTP door of Holdfast. */
export const failureBodySchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), detail: z.string().exactOptional() }),
});
