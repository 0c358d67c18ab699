// session-tools.ts: what the tools change that run with the session: plans, goals, questions, and calls that wait for a time.
import type { CallLog, GoalLog } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import type { Answers, CallEffect, EventBody, Question } from '@holdfast/protocol';
import { append, findCall, findSession, setActive, type MemoryState, type SessionData } from './state.ts';

export function createGoalLog(state: MemoryState): GoalLog {
  return {
    readGoal: async ({ sessionId }) => {
      const session = findSession(state, sessionId);
      if (!session.goal) return {};
      const { tokensBefore, ...goal } = session.goal;
      return { goal: { ...goal, tokensUsed: countTokens(session) - tokensBefore } };
    },
  };
}

/** Replies count once; what a cache had is free. */
function countTokens(session: SessionData): number {
  const replies = new Map(
    [...session.steps.values()].flatMap(({ turnId, committed }) =>
      committed ? [[`${turnId}/${committed.responseId}`, committed.usage] as const] : [],
    ),
  );
  return [...replies.values()].reduce(
    (sum, usage) => sum + usage.inputTokens - usage.cachedInputTokens + usage.outputTokens,
    0,
  );
}

/** Makes the change and returns the events that tell of it. */
export function applyEffect(session: SessionData, effect: CallEffect): EventBody[] {
  switch (effect.kind) {
    case 'plan': {
      const { kind: _, ...plan } = effect;
      return [{ type: 'plan', ...plan }];
    }
    case 'goal-created': {
      const { kind: _, ...goal } = effect;
      session.goal = { ...goal, status: 'active', tokensBefore: countTokens(session) };
      return [];
    }
    case 'goal-updated':
      if (session.goal) session.goal.status = effect.status;
      return [];
  }
}

/** The first time that a call was given stays; people are told once. @throws Failure store.stale-fence */
export function parkCall(
  state: MemoryState,
  request: Parameters<CallLog['parkCall']>[0],
): { untilMs: number; sinceMs: number } {
  const { sessionId, fence, untilMs, detail } = request;
  const session = findSession(state, sessionId);
  const call = findCall(session, request.callId);
  if (call.fence !== fence || call.state !== 'claimed') throw new Failure('store.stale-fence');
  const isFirst = call.wakeMs === undefined;
  call.wakeMs ??= untilMs;
  session.waiting = { reason: 'sleep', detail };
  setActive(session, 'waiting');
  const events: EventBody[] = isFirst ? [{ type: 'status', status: 'waiting', reason: 'sleep', detail }] : [];
  append(state, session, { turnId: call.turnId, events });
  return { untilMs: call.wakeMs, sinceMs: call.claimedAt };
}

/** Why these are not the answers to the questions of an approval that is accepted; undefined when they are. */
export function findAnswerFault(
  questions: readonly Question[] | undefined,
  answers: Answers | undefined,
): string | undefined {
  if (!questions) return answers && 'this approval is a yes-or-no question and takes no answers';
  const given = Object.keys(answers ?? {});
  const open = questions.find(({ id }) => !given.includes(id));
  if (open) return `the question ${open.id} has no answer; give one with \`holdfast answer\``;
  const unknown = given.toSorted().find((id) => questions.every((question) => question.id !== id));
  return unknown === undefined ? undefined : `there is no question ${unknown} in this approval`;
}
