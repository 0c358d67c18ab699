import { z } from 'zod';
import { declareTool } from '../../declare-tool.ts';
import { toGoalStep } from '../../goal-report.ts';
import { toFailed } from '../../session-tool.ts';

const objectiveLimit = 4_000;

export const createGoalTool = declareTool(
  {
    name: 'create_goal',
    folder: import.meta.url,
    input: z.object({
      objective: z
        .string()
        .trim()
        .min(1, 'must not be empty')
        .max(objectiveLimit, `must be at most ${objectiveLimit} characters`)
        .describe('What is to be true when the goal is reached.'),
      token_budget: z
        .int('must be a whole number')
        .min(1, 'must be at least 1')
        .optional()
        .describe('Tokens that the goal may use; only when the person gave a number.'),
    }),
    example: { objective: 'All tests of the parser pass on Windows.' },
  },
  async ({ objective, token_budget }, { readGoal }) => {
    const known = await readGoal();
    if (known && known.status !== 'complete')
      return toFailed(
        `This session has a goal that is ${known.status}: ${known.objective} Reach it first and mark it complete with update_goal.`,
      );
    const budget = token_budget === undefined ? {} : { tokenBudget: token_budget };
    const effect = { kind: 'goal-created' as const, objective, ...budget };
    return toGoalStep({ objective, status: 'active', ...budget, tokensUsed: 0 }, { effect });
  },
);
