import type { HistoryStore } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import { createSessionCallRunner, sessionTools } from '@holdfast/session-tools';
import { expect, test, describe } from 'vitest';
import { dyingAt, openTurn } from './session-turn.ts';

const question = {
  id: 'color',
  header: 'Color',
  question: 'Which color?',
  options: [
    { label: 'Red', description: 'warm' },
    { label: 'Blue', description: 'cold' },
  ],
};

describe('the tools of a session', () => {
  test('are offered to every model but those with the smallest profile, and run alone', () => {
    expect(sessionTools.map(({ name }) => name)).toEqual([
      'create_goal',
      'get_goal',
      'request_user_input',
      'sleep',
      'update_goal',
      'update_plan',
    ]);
    for (const spec of sessionTools) {
      expect(spec).toMatchObject({
        placement: 'workflow',
        supportsParallel: false,
        profiles: ['codex', 'files'],
      });
      expect(spec.description).not.toBe('');
    }
  });

  test('that do not exist are answered as unsupported', async () => {
    const { run } = await openTurn();
    expect(await run('no_such_tool', {})).toBe('unsupported call: no_such_tool');
  });

  test.each([
    ['update_plan', { plan: [{ step: 'look', status: 'done' }] }, 'plan.0.status'],
    ['update_plan', 'no JSON', 'failed to parse function arguments'],
    ['sleep', {}, 'exactly one of duration_ms and until'],
    ['sleep', { duration_ms: 5, until: '2026-01-01T00:00:00Z' }, 'exactly one of duration_ms and until'],
    ['sleep', { until: 'tomorrow' }, 'must be a time like'],
    [
      'request_user_input',
      { questions: [{ ...question, header: 'much too long' }] },
      'at most 12 characters',
    ],
    ['request_user_input', { questions: [question, question] }, 'must have different ids'],
    ['request_user_input', { questions: [{ ...question, id: 'a b' }] }, 'questions.0.id'],
    ['create_goal', { objective: ' ' }, 'objective: must not be empty'],
    ['update_goal', { status: 'active' }, 'status'],
  ])('say what is wrong with the arguments of %s %j', async (tool, input, reason) => {
    const { run, events } = await openTurn();
    expect(await run(tool, input)).toContain(reason);
    expect(events.filter(({ type }) => type === 'plan' || type === 'approval')).toEqual([]);
    expect(events.find(({ type }) => type === 'tool_result')).toMatchObject({ status: 'failed' });
  });
});

describe('a plan', () => {
  const plan = [{ step: 'look', status: 'in_progress' }];

  test.each(['before', 'after'] as const)(
    'is told once when the process dies %s its commit',
    async (when) => {
      const { store, clock, ask, runner, events, lastOutput } = await openTurn();
      const call = await ask('update_plan', { explanation: null, plan });
      const dying = createSessionCallRunner({
        store: dyingAt(store, 'finishCall', when),
        now: () => clock.now,
      });
      await expect(dying.run(call)).rejects.toThrow('the process died');
      expect(await runner.run(call)).toMatchObject({ kind: 'finished', status: 'ok' });
      expect(await runner.run(call)).toMatchObject({ kind: 'finished', status: 'ok' });
      const told = events.filter(({ type }) => type === 'plan' || type === 'tool_result');
      expect(told).toMatchObject([
        { type: 'plan', plan },
        { type: 'tool_result', text: 'Plan updated' },
      ]);
      expect(told[0]).not.toHaveProperty('explanation');
      expect(await lastOutput()).toBe('Plan updated');
    },
  );

  test('of an attempt that was overtaken is told by the attempt that overtook it', async () => {
    const { store, ask, events } = await openTurn();
    const call = await ask('update_plan', { plan });
    let claims = 0;
    const overtaken: HistoryStore = {
      ...store,
      claimCall: async (request) => {
        const claim = await store.claimCall(request);
        claims += 1;
        if (claims === 1) await store.claimCall({ ...request, bootId: 'another' });
        return claim;
      },
    };
    const result = await createSessionCallRunner({ store: overtaken }).run(call);
    expect(result).toMatchObject({ kind: 'finished', status: 'ok' });
    expect(claims).toBe(2);
    expect(events.filter(({ type }) => type === 'plan')).toHaveLength(1);
  });

  test('of a turn that has ended is not told', async () => {
    const { store, sessionId, ask, runner, events } = await openTurn();
    const call = await ask('update_plan', { plan });
    await store.sealTurn({ sessionId, turnId: 'a', end: { kind: 'cancelled' } });
    expect(await runner.run(call)).toEqual({ kind: 'sealed' });
    expect(events.filter(({ type }) => type === 'plan')).toEqual([]);
  });
});

describe('a sleep', () => {
  test('lasts until the time of its first run, however often it is run again', async () => {
    const { clock, ask, runner, lastOutput, events } = await openTurn();
    const call = await ask('sleep', { duration_ms: 60_000 });
    const untilMs = clock.now + 60_000;
    expect(await runner.run(call)).toEqual({ kind: 'sleeping', untilMs });
    clock.now += 20_000;
    expect(await runner.run(call)).toEqual({ kind: 'sleeping', untilMs });
    clock.now = untilMs + 500;
    expect(await runner.run(call)).toMatchObject({ kind: 'finished', status: 'ok' });
    expect(await lastOutput()).toBe('Slept for 60.5 seconds.');
    const told = events.filter((event) => event.type === 'status' && event.status === 'waiting');
    expect(told).toMatchObject([
      { reason: 'sleep', detail: `sleeping until ${new Date(untilMs).toISOString()}` },
    ]);
  });

  test('whose process died after it was noted keeps its time', async () => {
    const { store, clock, ask, runner } = await openTurn();
    const call = await ask('sleep', { duration_ms: 60_000 });
    const untilMs = clock.now + 60_000;
    const dying = createSessionCallRunner({
      store: dyingAt(store, 'parkCall', 'after'),
      now: () => clock.now,
    });
    await expect(dying.run(call)).rejects.toThrow('the process died');
    clock.now += 3_600_000;
    expect(await runner.run(call)).toMatchObject({ kind: 'finished' });
    expect(untilMs).toBeLessThan(clock.now);
  });

  test('ends early when it is woken, and says so', async () => {
    const { clock, ask, runner, lastOutput } = await openTurn();
    const call = await ask('sleep', { until: new Date(clock.now + 86_400_000).toISOString() });
    expect(await runner.run(call)).toMatchObject({ kind: 'sleeping' });
    clock.now += 1_500;
    expect(await runner.run({ ...call, woken: true })).toMatchObject({ kind: 'finished' });
    expect(await lastOutput()).toBe('Slept for 1.5 seconds, until new input came; it follows.');
  });

  test('until a time in the past is over at once', async () => {
    const { run } = await openTurn();
    expect(await run('sleep', { until: '1970-01-01T00:00:01+00:00' })).toBe('Slept for 0.0 seconds.');
  });

  test('that would last longer than 30 days ends then', async () => {
    const { clock, ask, runner } = await openTurn();
    const call = await ask('sleep', { until: '2999-01-01T00:00:00Z' });
    const untilMs = clock.now + 30 * 86_400_000;
    expect(await runner.run(call)).toEqual({ kind: 'sleeping', untilMs });
  });
});

describe('a question', () => {
  const approvalId = 'ap_1.1.0';

  test.each(['before', 'after'] as const)(
    'is asked once when the process dies %s it was asked, and its answer is the output',
    async (when) => {
      const { store, sessionId, ask, runner, lastOutput, events } = await openTurn();
      const call = await ask('request_user_input', { questions: [question] });
      const dying = createSessionCallRunner({ store: dyingAt(store, 'askApproval', when) });
      await expect(dying.run(call)).rejects.toThrow('the process died');
      expect(await runner.run(call)).toEqual({ kind: 'awaiting-approval', approvalId });
      expect(await runner.run(call)).toEqual({ kind: 'awaiting-approval', approvalId });
      const answers = { color: ['Green'] };
      await store.decideApproval({ sessionId, approvalId, decision: 'accept', answers });
      const late = createSessionCallRunner({ store: dyingAt(store, 'finishCall', 'before') });
      await expect(late.run(call)).rejects.toThrow('the process died');
      expect(await runner.run(call)).toMatchObject({ kind: 'finished', status: 'ok' });
      expect(await lastOutput()).toBe('{"answers":{"color":{"answers":["Green"]}}}');
      const told = events.flatMap((event) => (event.type === 'approval' ? [event.status] : []));
      expect(told).toEqual(['requested', 'resolved']);
    },
  );

  test('that is declined ends the call with a word to the model', async () => {
    const { store, sessionId, ask, runner, lastOutput } = await openTurn();
    const call = await ask('request_user_input', { questions: [question] });
    await runner.run(call);
    await store.decideApproval({ sessionId, approvalId, decision: 'decline' });
    expect(await runner.run(call)).toMatchObject({ kind: 'finished', status: 'denied' });
    expect(await lastOutput()).toContain('chose not to answer');
  });

  test('where nobody can answer is a failure that the model reads', async () => {
    const { store, ask, lastOutput, events } = await openTurn();
    const call = await ask('request_user_input', { questions: [question] });
    const alone = createSessionCallRunner({ store, answerable: false });
    expect(await alone.run(call)).toMatchObject({ kind: 'finished', status: 'failed' });
    expect(await lastOutput()).toContain('Nobody can answer');
    expect(events.some(({ type }) => type === 'approval')).toBe(false);
  });

  test('while the store is away fails as an infrastructure failure, not as an answer', async () => {
    const { store, ask } = await openTurn();
    const call = await ask('request_user_input', { questions: [question] });
    const away = { ...store, readApproval: () => Promise.reject(new Failure('store.unavailable')) };
    await expect(createSessionCallRunner({ store: away }).run(call)).rejects.toMatchObject({
      code: 'store.unavailable',
    });
  });
});

describe('a goal', () => {
  const toReport = async (text: Promise<string>): Promise<unknown> => JSON.parse(await text);
  const none = { goal: null, remainingTokens: null, completionBudgetReport: null };

  test('is set, read and reached, with what is left of its budget', async () => {
    const { run } = await openTurn();
    expect(await toReport(run('get_goal', {}))).toEqual(none);
    const goal = { objective: 'ship it', status: 'active', tokenBudget: 150, tokensUsed: 0 };
    const created = run('create_goal', { objective: 'ship it', token_budget: 150 });
    expect(await toReport(created)).toEqual({ ...none, goal, remainingTokens: 150 });
    expect(await toReport(run('get_goal', {}))).toEqual({
      ...none,
      goal: { ...goal, tokensUsed: 80 },
      remainingTokens: 70,
    });
    expect(await run('create_goal', { objective: 'another' })).toContain(
      'has a goal that is active: ship it',
    );
    expect(await toReport(run('update_goal', { status: 'complete' }))).toEqual({
      goal: { ...goal, status: 'complete', tokensUsed: 240 },
      remainingTokens: 0,
      completionBudgetReport: 'The goal is reached. Tell the person that it took 240 of 150 tokens.',
    });
    expect(await run('update_goal', { status: 'blocked' })).toContain('complete already');
  });

  test('may follow one that is complete, and counts anew', async () => {
    const { run } = await openTurn();
    expect(await run('update_goal', { status: 'complete' })).toContain('has no goal');
    await run('create_goal', { objective: 'one' });
    await run('update_goal', { status: 'complete' });
    await run('create_goal', { objective: 'two' });
    expect(await toReport(run('get_goal', {}))).toMatchObject({
      goal: { objective: 'two', tokenBudget: null, tokensUsed: 80 },
      remainingTokens: null,
    });
  });
});
