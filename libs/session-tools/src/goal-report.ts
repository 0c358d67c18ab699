import type { Goal } from '@holdfast/protocol';
import type { Step } from './session-tool.ts';

/** The goal for the model: JSON with what is left of the budget, and what to tell the person when the goal is reached. */
function toGoalReport(goal: Goal | undefined): string {
  if (!goal) return JSON.stringify({ goal: null, remainingTokens: null, completionBudgetReport: null });
  const { objective, status, tokenBudget, tokensUsed } = goal;
  return JSON.stringify({
    // By name, because stores hand out the members in an order of their own.
    goal: { objective, status, tokenBudget: tokenBudget ?? null, tokensUsed },
    remainingTokens: tokenBudget === undefined ? null : Math.max(0, tokenBudget - tokensUsed),
    completionBudgetReport: status === 'complete' ? toBudgetSentence(goal) : null,
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
