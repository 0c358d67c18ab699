// session-tool-schemas.ts: what the tools of a session leave behind, as schemas; checked against the protocol types by the compiler.
import type { Answers, CallEffect, Goal, Plan, Question } from '@holdfast/protocol';
import { z } from 'zod';

const answerLimit = 10_000;

export const questionSchema = z.object({
  id: z.string().min(1),
  header: z.string(),
  question: z.string(),
  options: z.array(z.object({ label: z.string(), description: z.string() })),
}) satisfies z.ZodType<Question>;

/** By question id: labels of options or other text. */
export const answersSchema = z.record(
  z.string(),
  z
    .array(
      z
        .string()
        .min(1, 'must not be empty')
        .max(answerLimit, `must be at most ${answerLimit} characters`)
        .refine(
          (text) => !text.includes('\0') && text.isWellFormed(),
          'must be Unicode text without NUL characters',
        ),
    )
    .min(1, 'must hold at least one answer')
    .max(10, 'must hold at most 10 answers'),
) satisfies z.ZodType<Answers>;

export const planShape = {
  explanation: z.string().exactOptional(),
  plan: z.array(z.object({ step: z.string(), status: z.enum(['pending', 'in_progress', 'completed']) })),
};
const planSchema = z.object(planShape) satisfies z.ZodType<Plan>;

const goalStatus = z.enum(['active', 'complete', 'blocked', 'paused']);
const tokens = z.int().nonnegative();
export const goalSchema = z.object({
  objective: z.string(),
  status: goalStatus,
  tokenBudget: tokens.exactOptional(),
  tokensUsed: tokens,
}) satisfies z.ZodType<Goal>;

export const callEffectSchema = z.discriminatedUnion('kind', [
  planSchema.extend({ kind: z.literal('plan') }),
  z.object({
    kind: z.literal('goal-created'),
    objective: z.string(),
    tokenBudget: tokens.exactOptional(),
  }),
  z.object({ kind: z.literal('goal-updated'), status: goalStatus }),
]) satisfies z.ZodType<CallEffect>;
