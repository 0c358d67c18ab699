import { z } from 'zod';
import { declareTool } from '../../declare-tool.ts';

const longestMs = 30 * 24 * 3_600_000;

export const sleepTool = declareTool(
  {
    name: 'sleep',
    folder: import.meta.url,
    input: z
      .object({
        duration_ms: z
          .int('must be a whole number')
          .min(1, 'must be at least 1')
          .max(longestMs, `must be at most ${longestMs}, which is 30 days`)
          .optional()
          .describe('How long to wait, in milliseconds.'),
        until: z.iso
          .datetime({ offset: true, error: 'must be a time like 2026-05-01T09:00:00Z' })
          .optional()
          .describe('When to go on, as an ISO 8601 time with its offset.'),
      })
      .refine((given) => (given.duration_ms === undefined) !== (given.until === undefined), {
        error: 'exactly one of duration_ms and until is needed',
        path: ['duration_ms'],
      }),
    example: { duration_ms: 60_000 },
  },
  ({ duration_ms, until }, { now }) => {
    const untilMs = until === undefined ? now + (duration_ms ?? 0) : Date.parse(until);
    return { kind: 'sleep', untilMs: Math.min(untilMs, now + longestMs) };
  },
);
