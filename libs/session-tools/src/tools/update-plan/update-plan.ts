import { z } from 'zod';
import { declareTool } from '../../declare-tool.ts';

const stepLimit = 100;
const textLimit = 1_000;

const planStep = z.object({
  step: z
    .string()
    .min(1, 'must not be empty')
    .max(textLimit, `must be at most ${textLimit} characters`)
    .describe('What is done in this step, in a few words.'),
  status: z.enum(['pending', 'in_progress', 'completed']),
});

export const updatePlanTool = declareTool(
  {
    name: 'update_plan',
    folder: import.meta.url,
    input: z.object({
      explanation: z
        .string()
        .max(textLimit, `must be at most ${textLimit} characters`)
        .optional()
        .describe('Why the plan changed.'),
      plan: z
        .array(planStep)
        .max(stepLimit, `must have at most ${stepLimit} steps`)
        .describe('Every step, also those that are completed.'),
    }),
    example: { plan: [{ step: 'Find the failing test', status: 'in_progress' }] },
  },
  ({ explanation, plan }) => ({
    kind: 'finished',
    status: 'ok',
    text: 'Plan updated',
    effect: { kind: 'plan', ...(explanation === undefined ? {} : { explanation }), plan },
  }),
);
