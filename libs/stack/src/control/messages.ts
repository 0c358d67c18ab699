// The control protocol: a client connects to the supervisor's unix socket, writes one request as a line of JSON and
// reads lines of JSON until the answer. Only `watch` is answered by several lines (progress, then how the start ended).
import { z } from 'zod';
import { processSpecSchema } from '../plan.ts';

export const controlRequestSchema = z.discriminatedUnion('op', [
  z.object({ op: z.literal('watch') }),
  z.object({ op: z.literal('status') }),
  z.object({ op: z.literal('stop') }),
  z.object({ op: z.literal('add-process'), spec: processSpecSchema }),
  z.object({ op: z.literal('remove-process'), name: z.string() }),
]);

export type ControlRequest = z.infer<typeof controlRequestSchema>;

const statusRowSchema = z.object({
  role: z.string(),
  process: z.string(),
  pid: z.number().int().nullable(),
  address: z.string().nullable(),
  health: z.enum(['ok', 'starting', 'failed']),
  rssMb: z.number().nullable(),
  restarts: z.number().int(),
});

export const controlReplySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('progress'), line: z.string() }),
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('stopping') }),
  z.object({ kind: z.literal('stopped') }),
  z.object({ kind: z.literal('done') }),
  z.object({ kind: z.literal('failed'), code: z.string(), message: z.string() }),
  z.object({
    kind: z.literal('status'),
    phase: z.enum(['starting', 'up', 'stopping']),
    processes: z.array(statusRowSchema),
  }),
]);

export type ControlReply = z.infer<typeof controlReplySchema>;
