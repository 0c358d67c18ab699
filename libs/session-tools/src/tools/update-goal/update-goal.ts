import { z } from 'zod';
import { declareTool } from '../../declare-tool.ts';
import { toGoalStep } from '../../goal-report.ts';
import { toFailed } from '../../session-tool.ts';

export const updateGoalTool = declareTool(
  {
    name: 'update_goal',
    folder: import.meta.url,
    input: z.object({ status: z.enum(['complete', 'blocked', 'paused']) }),
    example: { status: 'complete' },
  },
  async ({ status }, { readGoal }) => {
    const goal = await readGoal();
    if (!goal) return toFailed('This session has no goal; set one with create_goal.');
    if (goal.status === 'complete')
      return toFailed('The goal is complete already; set a new one with create_goal.');
    return toGoalStep({ ...goal, status }, { effect: { kind: 'goal-updated', status } });
  },
);
