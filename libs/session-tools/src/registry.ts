import type { ToolSpec } from '@holdfast/protocol';
import type { SessionTool } from './session-tool.ts';
import { createGoalTool } from './tools/create-goal/create-goal.ts';
import { getGoalTool } from './tools/get-goal/get-goal.ts';
import { requestUserInputTool } from './tools/request-user-input/request-user-input.ts';
import { sleepTool } from './tools/sleep/sleep.ts';
import { updateGoalTool } from './tools/update-goal/update-goal.ts';
import { updatePlanTool } from './tools/update-plan/update-plan.ts';

const tools = [
  createGoalTool,
  getGoalTool,
  requestUserInputTool,
  sleepTool,
  updateGoalTool,
  updatePlanTool,
] as const;

/** By the name the model calls them. */
export const registry: ReadonlyMap<string, SessionTool> = new Map(
  tools.map((tool) => [tool.spec.name, tool]),
);

/** The tools that every session has, wherever its machine is. */
export const sessionTools: readonly ToolSpec[] = tools.map(({ spec }) => spec);
