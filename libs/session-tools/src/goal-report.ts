import type { Goal } from '@holdfast/protocol';
import type { Step } from './session-tool.ts';

/** The goal for the model: JSON with what is left of the budget, and what to tell the person when the goal is reached. */
export function toGoalReport(goal: Goal | undefined): string {
  const budget = goal?.tokenBudget;
  const remainingTokens = goal && budget !== undefined ? Math.max(0, budget - goal.tokensUsed) : null;
  return JSON.stringify({
    goal: goal ? { ...goal, tokenBudget: budget ?? null } : null,
    remainingTokens,
    completionBudgetReport: goal?.status === 'complete' ? toBudgetSentence(goal) : null,
  });
}

function toBudgetSentence({ tokensUsed, tokenBudget }: Goal): string {
  const used = tokenBudget === undefined ? `${tokensUsed} tokens` : `${tokensUsed} of ${tokenBudget} tokens`;
  return `The goal is reached. Tell the person that it took ${used}.`;
}

export function toGoalStep(
  goal: Goal | undefined,
  change: Pick<Step & { kind: 'finished' }, 'effect'> = {},
): Step {
  return { kind: 'finished', status: 'ok', text: toGoalReport(goal), ...change };
}
