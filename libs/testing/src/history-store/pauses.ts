import { describe, expect, test } from 'vitest';
import {
  openScenario,
  toCode,
  toNewCall,
  toRegistration,
  toUniqueName,
  type StoreUnderTest,
} from './scenario.ts';

export function describePauses(subject: () => StoreUnderTest): void {
  describe('approvals', () => {
    const requested = {
      type: 'approval',
      status: 'requested',
      approvalId: 'ap_1.1.0',
      callId: '1.1.0',
      tool: 'exec_command',
      question: 'Run ls?',
    };
    const openApproval = async () => {
      const scenario = await openScenario(subject().store);
      const { store, sessionId, startCalls, claimToRun } = scenario;
      await startCalls('a', [toNewCall('c0')]);
      const { fence } = await claimToRun('1.1.0');
      const ask = (by = fence) =>
        store.askApproval({ sessionId, callId: '1.1.0', fence: by, question: 'Run ls?' });
      const decide = (decision: 'accept' | 'decline') =>
        store.decideApproval({ sessionId, approvalId: 'ap_1.1.0', decision });
      return { ...scenario, fence, ask, decide };
    };
    const resolved = (decision: string) => ({
      type: 'approval',
      status: 'resolved',
      approvalId: 'ap_1.1.0',
      callId: '1.1.0',
      decision,
    });

    test('are asked once and give the claim back', async () => {
      const { store, sessionId, ask, claim, finish, fence, bodies } = await openApproval();
      expect(await ask()).toEqual({ approvalId: 'ap_1.1.0' });
      expect(await ask()).toEqual({ approvalId: 'ap_1.1.0' });
      expect(await toCode(ask(fence + 1))).toBe('store.stale-fence');
      expect(await claim('1.1.0')).toEqual({ kind: 'awaiting-approval', approvalId: 'ap_1.1.0' });
      expect(await toCode(finish('1.1.0', fence))).toBe('store.stale-fence');
      expect((await bodies()).slice(4)).toEqual([requested]);
      expect(await store.readSession({ sessionId })).toMatchObject({ state: 'waiting' });
    });

    test('that are accepted let the call run', async () => {
      const { store, sessionId, ask, decide, claim, bodies } = await openApproval();
      await ask();
      const approval = {
        approvalId: 'ap_1.1.0',
        sessionId,
        callId: '1.1.0',
        tool: 'exec_command',
        question: 'Run ls?',
        decision: 'accept',
      };
      expect(await decide('accept')).toEqual(approval);
      expect(await decide('accept')).toEqual(approval);
      expect(await toCode(decide('decline'))).toBe('approval.decided');
      expect(await store.readSession({ sessionId })).toMatchObject({ state: 'running' });
      expect(await claim('1.1.0')).toMatchObject({ kind: 'run', fence: 2, approval: 'accepted' });
      expect((await bodies()).slice(4)).toEqual([requested, resolved('accept')]);
    });

    test('that are declined end the call and tell the model', async () => {
      const { ask, decide, claim, bodies, items } = await openApproval();
      await ask();
      await decide('decline');
      expect(await claim('1.1.0')).toMatchObject({ kind: 'finished', status: 'denied' });
      expect((await bodies()).slice(4)).toMatchObject([
        requested,
        resolved('decline'),
        {
          type: 'tool_result',
          callId: '1.1.0',
          status: 'denied',
          text: expect.stringContaining('declined'),
          durationMs: 0,
        },
        { type: 'step', step: 1, status: 'completed' },
      ]);
      expect((await items()).at(-1)).toEqual({
        type: 'function_call_output',
        call_id: 'c0',
        output: expect.stringContaining('declined'),
      });
    });

    test('that do not exist, or whose turn ended, are approval.unknown', async () => {
      const { ask, decide, seal } = await openApproval();
      expect(await toCode(decide('accept'))).toBe('approval.unknown');
      await ask();
      await seal('a', { kind: 'cancelled' });
      expect(await toCode(decide('accept'))).toBe('approval.unknown');
    });
  });

  describe('waiting', () => {
    const waiting = {
      type: 'status',
      status: 'waiting',
      reason: 'machine',
      detail: 'laptop is offline',
    } as const;
    const openWaiting = async () => {
      const scenario = await openScenario(subject().store);
      const { store, sessionId, startCalls } = scenario;
      await startCalls('a', [toNewCall('c0'), toNewCall('c1', { placement: 'gateway' })]);
      const wait = (turnId = 'a') =>
        store.noteWaiting({ sessionId, turnId, reason: 'machine', detail: waiting.detail });
      return { ...scenario, wait };
    };

    test('is told once, and ended by the claim of the machine', async () => {
      const { store, sessionId, wait, claim, bodies, machine } = await openWaiting();
      await wait();
      await wait();
      await wait('b');
      expect(await store.readSession({ sessionId })).toMatchObject({ state: 'waiting' });
      await claim('1.1.0');
      await claim('1.1.0');
      const online = { type: 'context', change: 'machine-online', detail: `Machine ${machine.name} is back` };
      expect((await bodies()).slice(5)).toEqual([waiting, online]);
      expect(await store.readSession({ sessionId })).toMatchObject({ state: 'running' });
      await wait();
      expect((await bodies()).at(-1)).toEqual(waiting);
    });

    test('for the machine is not ended by a call that runs elsewhere', async () => {
      const { store, sessionId, wait, bodies } = await openWaiting();
      const gateway = toRegistration({ name: toUniqueName('mcp'), kind: 'gateway' });
      await store.registerMachine(gateway);
      await wait();
      await store.claimCall({ sessionId, callId: '1.1.1', machineId: gateway.machineId, bootId: 'g' });
      expect((await bodies()).slice(5)).toEqual([waiting]);
      expect(await store.readSession({ sessionId })).toMatchObject({ state: 'waiting' });
    });

    test('for the model endpoint is told once while nothing else happens, and a newer attempt does not wait', async () => {
      const { store, sessionId, send, open, bodies } = await openScenario(subject().store);
      const error = { code: 'model.unreachable', message: 'away' };
      const fail = (fence: number, reason: 'network' | 'api-limit' = 'network') =>
        store.noteFailure({
          sessionId,
          turnId: 'a',
          step: 1,
          fence,
          error,
          willRetry: true,
          waiting: reason,
        });
      const toState = async () => (await store.readSession({ sessionId })).state;
      await send('a');
      await open('a', 1);
      await fail(1);
      await fail(1);
      expect(await toState()).toBe('waiting');
      await open('a', 1);
      await fail(1);
      expect(await toState()).toBe('running');
      await fail(2);
      expect(await toState()).toBe('waiting');
      await open('a', 1);
      await fail(3, 'api-limit');
      const told = { type: 'status', status: 'waiting', detail: 'away' };
      expect((await bodies()).slice(2)).toEqual([
        { ...told, reason: 'network' },
        { ...told, reason: 'api-limit' },
      ]);
    });

    test('is ignored for a turn that ended', async () => {
      const { store, sessionId, wait, seal, events } = await openWaiting();
      await seal('a', { kind: 'cancelled' });
      const before = await events();
      await wait();
      expect(await events()).toEqual(before);
      expect(await store.readSession({ sessionId })).toMatchObject({ state: 'idle' });
    });
  });
}
