import type { Answers, CallEffect, Question } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { openScenario, toCode, toNewCall, toOutput, type StoreUnderTest } from './scenario.ts';

const questions: Question[] = [
  {
    id: 'color',
    header: 'Color',
    question: 'Which color?',
    options: [
      { label: 'Red', description: 'warm' },
      { label: 'Blue', description: 'cold' },
    ],
  },
  { id: 'size', header: 'Size', question: 'Which size?', options: [{ label: 'S', description: 'small' }] },
];

/** A turn whose first step asks for one call that the session itself runs; its claim has fence 1. */
async function openCall(subject: () => StoreUnderTest, tool: string) {
  const scenario = await openScenario(subject().store);
  await scenario.startCalls('a', [toNewCall('c0', { tool, placement: 'workflow', parallel: false })]);
  const { fence } = await scenario.claimToRun('1.1.0');
  return { ...scenario, fence };
}

export function describeSessionTools(subject: () => StoreUnderTest): void {
  describe('the end of a call with an effect', () => {
    const plan = { explanation: 'first look', plan: [{ step: 'look', status: 'in_progress' }] } as const;
    const effect: CallEffect = { kind: 'plan', ...plan, plan: [...plan.plan] };

    test('tells the plan once, in front of the result', async () => {
      const { store, sessionId, fence, bodies } = await openCall(subject, 'update_plan');
      const finish = () =>
        store.finishCall({ sessionId, callId: '1.1.0', fence, output: toOutput('Plan updated'), effect });
      expect(await finish()).toEqual({ status: 'ok', outputTokens: 3 });
      expect(await finish()).toEqual({ status: 'ok', outputTokens: 3 });
      expect((await bodies()).slice(4)).toMatchObject([
        { type: 'plan', ...plan },
        { type: 'tool_result', status: 'ok' },
        { type: 'step', step: 1, status: 'completed' },
      ]);
      expect((await bodies())[4]).toEqual({ type: 'plan', ...plan });
    });

    test('changes nothing for a stale fence or a turn that ended', async () => {
      const { store, sessionId, fence, seal, claim, bodies } = await openCall(subject, 'update_plan');
      const finish = (by: number) =>
        store.finishCall({ sessionId, callId: '1.1.0', fence: by, output: toOutput('late'), effect });
      await claim('1.1.0');
      expect(await toCode(finish(fence))).toBe('store.stale-fence');
      await seal('a', { kind: 'cancelled' });
      expect(await toCode(finish(fence + 1))).toBe('store.stale-fence');
      expect((await bodies()).filter(({ type }) => type === 'plan')).toEqual([]);
    });
  });

  describe('a goal', () => {
    test('is absent until it is set, counts the tokens since then, and keeps its budget', async () => {
      const { store, sessionId, fence, finish, open, commit, claimToRun } = await openCall(
        subject,
        'create_goal',
      );
      expect(await store.readGoal({ sessionId })).toEqual({});
      const effect: CallEffect = { kind: 'goal-created', objective: 'ship it', tokenBudget: 1000 };
      await store.finishCall({ sessionId, callId: '1.1.0', fence, output: toOutput('{}'), effect });
      const goal = { objective: 'ship it', status: 'active', tokenBudget: 1000, tokensUsed: 0 };
      expect(await store.readGoal({ sessionId })).toEqual({ goal });
      await open('a', 2);
      await commit('a', 2, { calls: [toNewCall('c1', { placement: 'workflow' })] });
      expect(await store.readGoal({ sessionId })).toEqual({ goal: { ...goal, tokensUsed: 80 } });
      const second = await claimToRun('1.2.0');
      await store.finishCall({
        sessionId,
        callId: '1.2.0',
        fence: second.fence,
        output: toOutput('{}'),
        effect: { kind: 'goal-updated', status: 'complete' },
      });
      await finish('1.2.0', second.fence);
      expect(await store.readGoal({ sessionId })).toEqual({
        goal: { ...goal, status: 'complete', tokensUsed: 80 },
      });
    });

    test('that is set again starts to count anew', async () => {
      const { store, sessionId, fence, open, commit, claimToRun } = await openCall(subject, 'create_goal');
      const create = (callId: string, by: number, objective: string) =>
        store.finishCall({
          sessionId,
          callId,
          fence: by,
          output: toOutput('{}'),
          effect: { kind: 'goal-created', objective },
        });
      await create('1.1.0', fence, 'one');
      await open('a', 2);
      await commit('a', 2, { calls: [toNewCall('c1', { placement: 'workflow' })] });
      await create('1.2.0', (await claimToRun('1.2.0')).fence, 'two');
      expect(await store.readGoal({ sessionId })).toEqual({
        goal: { objective: 'two', status: 'active', tokensUsed: 0 },
      });
    });

    test('of an unknown session is session.unknown', async () => {
      const sessionId = '00000000-0000-4000-8000-000000000000';
      expect(await toCode(subject().store.readGoal({ sessionId }))).toBe('session.unknown');
    });
  });

  describe('a call that waits for a time', () => {
    test('keeps the first time it was given, and people are told once', async () => {
      const { store, sessionId, fence, claim, bodies } = await openCall(subject, 'sleep');
      const park = (by: number, untilMs: number) =>
        store.parkCall({ sessionId, callId: '1.1.0', fence: by, untilMs, detail: `until ${untilMs}` });
      const first = await park(fence, 5_000);
      expect(first).toEqual({ untilMs: 5_000, sinceMs: expect.any(Number) });
      expect(await park(fence, 9_000)).toEqual(first);
      expect(await store.readSession({ sessionId })).toMatchObject({ state: 'waiting' });
      expect(await claim('1.1.0')).toMatchObject({ kind: 'resolve', fence: fence + 1 });
      expect(await store.readSession({ sessionId })).toMatchObject({ state: 'running' });
      expect(await toCode(park(fence, 5_000))).toBe('store.stale-fence');
      expect(await park(fence + 1, 9_000)).toEqual(first);
      expect(await store.readSession({ sessionId })).toMatchObject({ state: 'waiting' });
      expect((await bodies()).slice(4)).toEqual([
        { type: 'status', status: 'waiting', reason: 'sleep', detail: 'until 5000' },
      ]);
    });

    test('waits no more when it has ended', async () => {
      const { store, sessionId, fence, finish } = await openCall(subject, 'sleep');
      await store.parkCall({ sessionId, callId: '1.1.0', fence, untilMs: 5_000, detail: 'later' });
      await finish('1.1.0', fence);
      expect(await store.readSession({ sessionId })).toMatchObject({ state: 'running' });
    });

    test('ends with its turn', async () => {
      const { store, sessionId, fence, seal, claim } = await openCall(subject, 'sleep');
      await store.parkCall({ sessionId, callId: '1.1.0', fence, untilMs: 5_000, detail: 'later' });
      await seal('a', { kind: 'cancelled' });
      expect(await claim('1.1.0')).toEqual({ kind: 'sealed' });
      expect(await store.readSession({ sessionId })).toMatchObject({ state: 'idle' });
    });
  });

  describe('an approval with questions', () => {
    const openQuestions = async () => {
      const scenario = await openCall(subject, 'request_user_input');
      const { store, sessionId, fence } = scenario;
      await store.askApproval({ sessionId, callId: '1.1.0', fence, question: 'Which?', questions });
      const place = { sessionId, approvalId: 'ap_1.1.0' };
      const answer = (answers?: Answers) =>
        store.decideApproval({ ...place, decision: 'accept', ...(answers ? { answers } : {}) });
      return { ...scenario, place, answer };
    };
    const answers = { color: ['Red'], size: ['between S and M'] };

    test('is told and read with its questions, and takes one answer to each', async () => {
      const { store, sessionId, place, answer, bodies, claim } = await openQuestions();
      const asked = { ...place, callId: '1.1.0', tool: 'request_user_input', question: 'Which?', questions };
      expect(await store.readApproval(place)).toEqual(asked);
      expect(await toCode(answer())).toBe('input.invalid');
      await expect(answer({ color: ['Red'] })).rejects.toThrow('the question size has no answer');
      await expect(answer({ ...answers, form: ['round'] })).rejects.toThrow('there is no question form');
      expect(await answer(answers)).toEqual({ ...asked, decision: 'accept', answers });
      expect(await answer(answers)).toEqual({ ...asked, decision: 'accept', answers });
      expect(await store.readApproval(place)).toEqual({ ...asked, decision: 'accept', answers });
      expect(await toCode(answer({ ...answers, color: ['Blue'] }))).toBe('approval.decided');
      expect(await store.readSession({ sessionId })).toMatchObject({ state: 'running' });
      const id = { approvalId: 'ap_1.1.0', callId: '1.1.0' };
      expect((await bodies()).slice(4)).toEqual([
        {
          type: 'approval',
          status: 'requested',
          ...id,
          tool: 'request_user_input',
          question: 'Which?',
          questions,
        },
        { type: 'approval', status: 'resolved', ...id, decision: 'accept', answers },
      ]);
      expect(await claim('1.1.0')).toMatchObject({ kind: 'run', approval: 'accepted' });
    });

    test('may be declined, and the model reads that nobody answered', async () => {
      const { store, place, items } = await openQuestions();
      await store.decideApproval({ ...place, decision: 'decline' });
      expect((await items()).at(-1)).toMatchObject({ output: expect.stringContaining('not to answer') });
    });

    test('that nobody asked is approval.unknown, and answers belong to questions only', async () => {
      const { store, sessionId, fence } = await openCall(subject, 'exec_command');
      const place = { sessionId, approvalId: 'ap_1.1.0' };
      expect(await toCode(store.readApproval(place))).toBe('approval.unknown');
      await store.askApproval({ sessionId, callId: '1.1.0', fence, question: 'Run ls?' });
      expect(await toCode(store.decideApproval({ ...place, decision: 'accept', answers }))).toBe(
        'input.invalid',
      );
    });
  });
}
