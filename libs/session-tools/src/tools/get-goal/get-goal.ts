import { z } from 'zod';
import { declareTool } from '../../declare-tool.ts';
import { toGoalStep } from '../../goal-report.ts';

export const getGoalTool = declareTool(
  { name: 'get_goal', folder: import.meta.url, input: z.object({}), example: {} },
  async (_given, { readGoal }) => toGoalStep(await readGoal()),
);
