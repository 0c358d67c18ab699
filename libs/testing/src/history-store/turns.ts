import { toUserMessage } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import {
  listPending,
  openScenario,
  toAssistantMessage,
  toCode,
  toNewCall,
  type StoreUnderTest,
} from './scenario.ts';

const completed = (step: number) => ({ type: 'step', step, status: 'completed' });
const cancelled = { type: 'status', status: 'cancelled' };
const abortedMessage = {
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text: expect.stringMatching(/^<turn_aborted>.+<\/turn_aborted>$/) }],
};

export function describeTurnEnds(subject: () => StoreUnderTest): void {
  describe('sealing a turn', () => {
    test('writes the one terminal status; the first caller decides', async () => {
      const { store, sessionId, send, open, commit, seal, bodies } = await openScenario(subject().store);
      await send('a');
      await open('a', 1);
      await commit('a', 1, { items: [toAssistantMessage('done')] });
      expect(await seal('a', { kind: 'completed' })).toEqual({ status: 'completed' });
      expect(await seal('a', { kind: 'cancelled' })).toEqual({ status: 'completed' });
      expect((await bodies()).slice(-2)).toEqual([completed(1), { type: 'status', status: 'completed' }]);
      expect(await store.readSession({ sessionId })).toMatchObject({ state: 'idle' });
    });

    test('with an error keeps the error', async () => {
      const { store, sessionId, send, open, seal, bodies, items } = await openScenario(subject().store);
      const error = { code: 'model.unauthorized', message: 'refused' };
      await send('a');
      await open('a', 1);
      expect(await seal('a', { kind: 'error', error })).toEqual({ status: 'error' });
      expect((await bodies()).slice(2)).toEqual([completed(1), { type: 'status', status: 'error', error }]);
      expect(await store.listTurns({ sessionId })).toMatchObject([{ status: 'error', error }]);
      expect(await items()).toEqual([toUserMessage('text of a')]);
    });

    test('by a cancel gives every open call an output, in the asked order, and tells the model', async () => {
      const { startCalls, claimToRun, finish, seal, bodies, items } = await openScenario(subject().store);
      await startCalls('a', [
        toNewCall('c0'),
        toNewCall('c1', { form: 'freeform', input: 'p' }),
        toNewCall('c2'),
      ]);
      const done = await claimToRun('1.1.2');
      await finish('1.1.2', done.fence);
      const held = await claimToRun('1.1.0');
      await seal('a', { kind: 'cancelled' });
      const byUser = expect.stringMatching(/^aborted by user after \d+\.\ds$/);
      const result = { type: 'tool_result', tool: 'exec_command', status: 'aborted' };
      expect((await bodies()).slice(7)).toEqual([
        { ...result, callId: '1.1.0', text: byUser, durationMs: expect.any(Number) },
        { ...result, callId: '1.1.1', text: 'aborted', durationMs: 0 },
        completed(1),
        cancelled,
      ]);
      expect((await items()).slice(4)).toEqual([
        { type: 'function_call_output', call_id: 'c0', output: byUser },
        { type: 'custom_tool_call_output', call_id: 'c1', output: 'aborted' },
        { type: 'function_call_output', call_id: 'c2', output: 'output of 1.1.2' },
        abortedMessage,
      ]);
      expect(await toCode(finish('1.1.0', held.fence))).toBe('store.stale-fence');
    });

    test('by an error says only that the calls were aborted', async () => {
      const { startCalls, claimToRun, seal, items } = await openScenario(subject().store);
      await startCalls('a', [toNewCall('c0')]);
      await claimToRun('1.1.0');
      await seal('a', { kind: 'error', error: { code: 'model.failed', message: 'x' } });
      expect((await items()).at(-1)).toEqual({
        type: 'function_call_output',
        call_id: 'c0',
        output: 'aborted',
      });
    });

    test('takes nothing afterwards', async () => {
      const { store, sessionId, startCalls, claimToRun, finish, tryOpen, commit, seal, events, items } =
        await openScenario(subject().store);
      await startCalls('a', [toNewCall('c0')]);
      const { fence } = await claimToRun('1.1.0');
      await seal('a', { kind: 'cancelled' });
      const before = [await events(), await items()];
      const error = { code: 'model.failed', message: 'x' };
      expect(await tryOpen('a', 2)).toEqual({ kind: 'sealed', status: 'cancelled' });
      expect(await commit('a', 1)).toEqual({ kind: 'sealed', status: 'cancelled' });
      expect(await toCode(finish('1.1.0', fence))).toBe('store.stale-fence');
      expect(await toCode(store.askApproval({ sessionId, callId: '1.1.0', fence, question: '?' }))).toBe(
        'store.stale-fence',
      );
      await store.appendProgress({ sessionId, callId: '1.1.0', fence, progress: 1 });
      await store.noteFailure({ sessionId, turnId: 'a', step: 1, fence: 1, error, willRetry: true });
      await store.noteWaiting({ sessionId, turnId: 'a', reason: 'machine', detail: 'x' });
      expect([await events(), await items()]).toEqual(before);
    });

    test('that never opened a step starts and ends it', async () => {
      const { store, sessionId, send, seal, tryOpen, bodies, items } = await openScenario(subject().store);
      await send('a');
      expect(await seal('a', { kind: 'cancelled' })).toEqual({ status: 'cancelled' });
      expect(await seal('a', { kind: 'completed' })).toEqual({ status: 'cancelled' });
      const starting = {
        type: 'status',
        status: 'starting',
        ordinal: 1,
        input: { inputId: 'a', text: 'text of a' },
      };
      expect(await bodies()).toEqual([starting, cancelled]);
      expect(await items()).toEqual([toUserMessage('text of a'), abortedMessage]);
      expect(await tryOpen('a', 1)).toEqual({ kind: 'sealed', status: 'cancelled' });
      expect(await store.listTurns({ sessionId })).toMatchObject([
        { turnId: 'a', ordinal: 1, status: 'cancelled', steps: 0 },
      ]);
      expect(await toCode(seal('nobody', { kind: 'cancelled' }))).toBe('input.invalid');
    });

    test('that waits behind another one leaves the running turn alone', async () => {
      const { startCalls, send, seal, claimToRun, finish, open, items } = await openScenario(subject().store);
      await startCalls('a', [toNewCall('c0')]);
      await send('b');
      await seal('b', { kind: 'cancelled' });
      const { fence } = await claimToRun('1.1.0');
      await finish('1.1.0', fence);
      expect(await open('a', 2)).toMatchObject({ kind: 'open', ordinal: 1 });
      expect(await items()).toMatchObject([
        { type: 'message' },
        { type: 'function_call', call_id: 'c0' },
        { type: 'function_call_output', call_id: 'c0' },
      ]);
    });

    test('releases steers that no request has recorded', async () => {
      const { store, sessionId, send, open, tryOpen, commit, seal } = await openScenario(subject().store);
      await send('a');
      await open('a', 1);
      await commit('a', 1);
      await send('s', 'steer');
      await tryOpen('a', 1, { inputs: ['a', 's'] });
      await seal('a', { kind: 'cancelled' });
      const pending = await listPending(store);
      expect(
        pending.filter((entry) => entry.sessionId === sessionId).map((entry) => entry.input.inputId),
      ).toEqual(['s']);
      expect(await open('s', 1)).toMatchObject({ kind: 'open', ordinal: 2 });
    });
  });

  test('the session names the turn that runs, and a cancel repeated for it leaves the next one alone', async () => {
    const { store, sessionId, send, open, commit, seal } = await openScenario(subject().store);
    const toRunning = async () => (await store.readSession({ sessionId })).runningTurn;
    await send('a');
    await send('b');
    expect(await toRunning()).toBeUndefined();
    await open('a', 1);
    expect(await toRunning()).toBe('a');
    await seal('a', { kind: 'cancelled' });
    expect(await toRunning()).toBeUndefined();
    await open('b', 1);
    expect(await seal('a', { kind: 'cancelled' })).toEqual({ status: 'cancelled' });
    expect(await toRunning()).toBe('b');
    expect(await commit('b', 1)).toMatchObject({ kind: 'reply' });
  });

  test('onEvents is told every event after its commit, in order', async () => {
    const { reported, store } = subject();
    if (!reported) return;
    const { sessionId, startCalls, claimToRun, finish, seal, events } = await openScenario(store);
    await startCalls(
      'a',
      ['c0', 'c1', 'c2'].map((id) => toNewCall(id)),
    );
    await Promise.all(
      ['1.1.0', '1.1.1', '1.1.2'].map(async (callId) => {
        const { fence } = await claimToRun(callId);
        await finish(callId, fence);
      }),
    );
    await seal('a', { kind: 'completed' });
    expect(reported().filter((event) => event.sessionId === sessionId)).toEqual(await events());
  });
}
