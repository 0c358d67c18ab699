// session-tools.ts: what the tools leave behind that run with the session itself and not on a machine.
import type { CallResult } from './calls.ts';

export type PlanStep = { step: string; status: 'pending' | 'in_progress' | 'completed' };
export type Plan = { explanation?: string; plan: PlanStep[] };

/** `id` is unique among the questions that are asked together. */
export type Question = {
  id: string;
  /** A few characters to show beside the question. */
  header: string;
  question: string;
  options: { label: string; description: string }[];
};

/** By the id of the question: labels of its options, or any other text. Every question has at least one. */
export type Answers = Record<string, string[]>;

export type GoalStatus = 'active' | 'complete' | 'blocked' | 'paused';

/** What a session works towards. `tokensUsed`: input that no cache had, and output, of every reply since the goal was set. */
export type Goal = { objective: string; status: GoalStatus; tokenBudget?: number; tokensUsed: number };

/** What the end of a call changes in its session, in the same transaction. */
export type CallEffect =
  | ({ kind: 'plan' } & Plan)
  /** Replaces the goal the session had. */
  | { kind: 'goal-created'; objective: string; tokenBudget?: number }
  | { kind: 'goal-updated'; status: GoalStatus };

/** `sleeping`: run it again at that time (milliseconds since 1970), or earlier to wake it. */
export type SessionCallResult = CallResult | { kind: 'sleeping'; untilMs: number };
