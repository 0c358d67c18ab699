import { toUserMessage } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import {
  openScenario,
  toAssistantMessage,
  toCode,
  toNewCall,
  toRegistration,
  toTestCatalog,
  toUniqueName,
  usage,
  type StoreUnderTest,
} from './scenario.ts';

const starting = (inputId: string, ordinal = 1) => ({
  type: 'status',
  status: 'starting',
  ordinal,
  input: { inputId, text: `text of ${inputId}` },
});
const started = (step: number) => ({ type: 'step', step, status: 'started' });
const completed = (step: number) => ({ type: 'step', step, status: 'completed' });
const lost = (attempt: number) => ({
  type: 'error',
  error: {
    code: 'step.retried',
    message: 'The worker that asked the model was lost; another one asks again.',
  },
  willRetry: true,
  attempt,
});

export function describeSteps(subject: () => StoreUnderTest): void {
  describe('opening a step', () => {
    test('starts the turn, records its input and hands out everything', async () => {
      const { send, open, bodies, items, settings, machine } = await openScenario(subject().store);
      await send('a');
      expect(await open('a', 1)).toEqual({
        kind: 'open',
        fence: 1,
        ordinal: 1,
        epoch: 0,
        reset: true,
        items: [{ seq: 1, item: toUserMessage('text of a') }],
        settings,
        catalogs: [machine.catalog.digest],
      });
      expect(await bodies()).toEqual([starting('a'), started(1)]);
      expect(await items()).toEqual([toUserMessage('text of a')]);
    });

    test('hands out only what the caller does not have, unless what it has cannot be right', async () => {
      const { send, open, commit } = await openScenario(subject().store);
      await send('a');
      await send('b', 'steer');
      await open('a', 1);
      await commit('a', 1, { items: [toAssistantMessage('hello')], endTurn: false });
      const steer = { seq: 3, item: toUserMessage('text of b') };
      const have = (epoch: number, seq: number) => open('a', 2, { inputs: ['b'], have: { epoch, seq } });
      expect(await have(0, 2)).toMatchObject({ reset: false, items: [steer] });
      expect(await have(0, 3)).toMatchObject({ reset: false, items: [] });
      expect((await have(0, 4)).items).toHaveLength(3);
      expect(await have(1, 2)).toMatchObject({ reset: true, items: [{ seq: 1 }, { seq: 2 }, steer] });
    });

    test('again, without a commit, fences the earlier attempt, says so once and records nothing twice', async () => {
      const { store, sessionId, send, open, commit, bodies, items } = await openScenario(subject().store);
      await send('a');
      await open('a', 1);
      expect(await open('a', 1)).toMatchObject({ fence: 2 });
      expect(await open('a', 1)).toMatchObject({ fence: 3 });
      expect(await toCode(commit('a', 1, { fence: 2 }))).toBe('store.stale-fence');
      expect(await items()).toEqual([toUserMessage('text of a')]);
      expect(await bodies()).toEqual([starting('a'), started(1), lost(1)]);
      expect(await commit('a', 1, { fence: 3 })).toEqual({
        kind: 'reply',
        calls: [],
        contextTokens: 120,
        endTurn: true,
      });
      expect(await store.readSession({ sessionId })).toMatchObject({ state: 'running', lastEventSeq: 5 });
    });

    test('whose attempt failed for good ends the turn with the notice that the attempt left', async () => {
      const { store, sessionId, send, open, bodies } = await openScenario(subject().store);
      const noted = { code: 'model.invalid-request', message: 'refused (with what the provider said)' };
      await send('a');
      await open('a', 1);
      await store.noteFailure({ sessionId, turnId: 'a', step: 1, fence: 1, error: noted, willRetry: false });
      const error = { code: 'model.invalid-request', message: 'refused' };
      await store.sealTurn({ sessionId, turnId: 'a', end: { kind: 'error', error } });
      expect((await bodies()).slice(-2)).toEqual([
        { type: 'step', step: 1, status: 'completed' },
        { type: 'status', status: 'error', error: noted },
      ]);
    });

    test('after a noted failure needs no second note', async () => {
      const { store, sessionId, send, open, bodies } = await openScenario(subject().store);
      const error = { code: 'model.stream-cut', message: 'cut' };
      await send('a');
      await open('a', 1);
      await store.noteFailure({ sessionId, turnId: 'a', step: 1, fence: 1, error, willRetry: true });
      await store.noteFailure({ sessionId, turnId: 'a', step: 1, fence: 1, error, willRetry: true });
      await store.noteWaiting({ sessionId, turnId: 'a', reason: 'api-limit', detail: '3 s' });
      expect(await open('a', 1)).toMatchObject({ fence: 2 });
      await store.noteFailure({ sessionId, turnId: 'a', step: 1, fence: 1, error, willRetry: true });
      expect(await bodies()).toEqual([
        starting('a'),
        started(1),
        { type: 'error', error, willRetry: true, attempt: 1 },
        { type: 'status', status: 'waiting', reason: 'api-limit', detail: '3 s' },
      ]);
      expect(await store.readSession({ sessionId })).toMatchObject({ state: 'running' });
    });

    test('records steers after step:started, in the order given, once', async () => {
      const { send, open, commit, bodies, items } = await openScenario(subject().store);
      await send('a');
      await send('s2', 'steer');
      await send('s1', 'steer');
      await open('a', 1);
      await commit('a', 1, { items: [toAssistantMessage('hello')], endTurn: false });
      await open('a', 2, { inputs: ['s1', 's2'] });
      await open('a', 2, { inputs: ['s1', 's2'] });
      const injected = (inputId: string) => ({
        type: 'message_injected',
        inputId,
        text: `text of ${inputId}`,
      });
      expect((await bodies()).slice(5)).toEqual([started(2), injected('s1'), injected('s2'), lost(1)]);
      expect((await items()).slice(2)).toEqual([toUserMessage('text of s1'), toUserMessage('text of s2')]);
    });

    test('that was committed returns the recorded reply and asks for nothing', async () => {
      const { tryOpen, startCalls, events } = await openScenario(subject().store);
      await startCalls('a', [toNewCall('c0', { parallel: false })]);
      const before = await events();
      expect(await tryOpen('a', 1)).toEqual({
        kind: 'committed',
        reply: {
          kind: 'reply',
          calls: [{ callId: '1.1.0', tool: 'exec_command', placement: 'machine', parallel: false }],
          contextTokens: 120,
          endTurn: false,
        },
      });
      expect(await events()).toEqual(before);
    });

    test('that was committed keeps a steer that comes along for the next step', async () => {
      const { send, open, tryOpen, commit, bodies } = await openScenario(subject().store);
      await send('a');
      await open('a', 1);
      await commit('a', 1);
      await send('s', 'steer');
      const reply = { kind: 'reply', calls: [], contextTokens: 120, endTurn: false };
      expect(await tryOpen('a', 1, { inputs: ['a', 's'] })).toEqual({ kind: 'committed', reply });
      await open('a', 2);
      expect((await bodies()).at(-1)).toEqual({ type: 'message_injected', inputId: 's', text: 'text of s' });
      expect(await tryOpen('a', 1)).toEqual({ kind: 'committed', reply });
    });

    test('is refused while calls of the step before are open, and out of order', async () => {
      const { send, tryOpen, startCalls, claimToRun, finish } = await openScenario(subject().store);
      await send('z');
      expect(await toCode(tryOpen('z', 2))).toBe('input.invalid');
      await startCalls('a', [toNewCall('c0')]);
      expect(await toCode(tryOpen('a', 2))).toBe('store.calls-open');
      const { fence } = await claimToRun('1.1.0');
      await finish('1.1.0', fence);
      expect(await toCode(tryOpen('a', 3))).toBe('input.invalid');
      expect(await toCode(tryOpen('a', 2, { inputs: ['nobody'] }))).toBe('input.invalid');
      expect(await tryOpen('a', 2)).toMatchObject({ kind: 'open', fence: 1 });
    });

    test('of a turn that has ended, or whose input another turn consumed, is sealed', async () => {
      const { send, open, tryOpen, commit, seal } = await openScenario(subject().store);
      await send('a');
      await send('s', 'steer');
      await open('a', 1, { inputs: ['a', 's'] });
      expect(await tryOpen('s', 1)).toEqual({ kind: 'sealed', status: 'completed' });
      await seal('a', { kind: 'cancelled' });
      expect(await tryOpen('a', 1)).toEqual({ kind: 'sealed', status: 'cancelled' });
      expect(await tryOpen('s', 1)).toEqual({ kind: 'sealed', status: 'cancelled' });
      expect(await commit('a', 1)).toEqual({ kind: 'sealed', status: 'cancelled' });
    });

    test('of a new turn ends an older one that still runs as cancelled', async () => {
      const { store, sessionId, send, open, bodies } = await openScenario(subject().store);
      await send('a');
      await send('b');
      await open('a', 1);
      expect(await open('b', 1)).toMatchObject({ fence: 1, ordinal: 2 });
      expect((await bodies()).slice(2)).toEqual([
        completed(1),
        { type: 'status', status: 'cancelled' },
        starting('b', 2),
        started(1),
      ]);
      const turns = await store.listTurns({ sessionId });
      expect(turns.map((turn) => [turn.turnId, turn.status])).toEqual([
        ['a', 'cancelled'],
        ['b', 'running'],
      ]);
    });

    test('freezes the tools of the machine and of the gateways that are online, until they are refreshed', async () => {
      const { store, send, open, bodies, machine } = await openScenario(subject().store);
      const catalog = toTestCatalog(toUniqueName('mcp'), 'second');
      const gateway = toRegistration({ name: toUniqueName('mcp'), kind: 'gateway', catalog });
      await send('a');
      expect((await open('a', 1)).catalogs).toContain(machine.catalog.digest);
      await store.registerMachine(gateway);
      const frozen = await open('a', 1);
      expect(frozen.catalogs).not.toContain(catalog.digest);
      const refreshed = await open('a', 1, { refreshTools: true });
      expect(refreshed.catalogs[0]).toBe(machine.catalog.digest);
      expect(refreshed.catalogs).toContain(catalog.digest);
      expect((await open('a', 1, { refreshTools: true })).catalogs).toEqual(refreshed.catalogs);
      const changes = (await bodies()).filter((body) => body.type === 'context');
      expect(changes).toMatchObject([{ change: 'tools-refreshed' }]);
      await store.releaseLease(gateway);
      expect((await open('a', 1, { refreshTools: true })).catalogs).not.toContain(catalog.digest);
    });
  });

  describe('committing a step', () => {
    test('writes reasoning, text, usage and calls in that order', async () => {
      const { send, open, commit, bodies } = await openScenario(subject().store);
      await send('a');
      await open('a', 1);
      const calls = [
        toNewCall('c0', { parallel: false }),
        toNewCall('c1', { tool: 'apply_patch', form: 'freeform', input: '*** x' }),
      ];
      const summary = ['one', 'two'].map((text) => ({ type: 'summary_text' as const, text }));
      const items = [
        { type: 'reasoning' as const, summary },
        { type: 'reasoning' as const, summary: [] },
        toAssistantMessage('hi'),
      ];
      expect(await commit('a', 1, { items, calls, responseId: 'r' })).toEqual({
        kind: 'reply',
        calls: [
          { callId: '1.1.0', tool: 'exec_command', placement: 'machine', parallel: false },
          { callId: '1.1.1', tool: 'apply_patch', placement: 'machine', parallel: true },
        ],
        contextTokens: 120,
        endTurn: false,
      });
      expect((await bodies()).slice(2)).toEqual([
        { type: 'reasoning', step: 1, text: 'one\n\ntwo' },
        { type: 'text', step: 1, text: 'hi' },
        { type: 'usage', step: 1, responseId: 'r', usage, contextTokens: 120 },
        { type: 'tool_call', step: 1, callId: '1.1.0', tool: 'exec_command', input: '{"cmd":"ls"}' },
        { type: 'tool_call', step: 1, callId: '1.1.1', tool: 'apply_patch', input: '*** x' },
      ]);
    });

    test('without calls completes the step', async () => {
      const { send, open, commit, bodies, items } = await openScenario(subject().store);
      await send('a');
      await open('a', 1);
      await commit('a', 1, { items: [toAssistantMessage('done')] });
      expect((await bodies()).slice(2)).toMatchObject([
        { type: 'text', text: 'done' },
        { type: 'usage' },
        completed(1),
      ]);
      expect(await items()).toEqual([toUserMessage('text of a'), toAssistantMessage('done')]);
    });

    test('again with the same response returns the recorded reply; with another one it is stale', async () => {
      const { send, open, commit, events } = await openScenario(subject().store);
      await send('a');
      await open('a', 1);
      const reply = await commit('a', 1, { items: [toAssistantMessage('done')] });
      const before = await events();
      expect(await commit('a', 1, { items: [toAssistantMessage('done')] })).toEqual(reply);
      expect(await toCode(commit('a', 1, { responseId: 'other' }))).toBe('store.stale-fence');
      expect(await events()).toEqual(before);
    });

    test('that nobody opened is stale', async () => {
      const { send, open, commit } = await openScenario(subject().store);
      expect(await toCode(commit('a', 1))).toBe('store.stale-fence');
      await send('a');
      await open('a', 1);
      expect(await toCode(commit('a', 2))).toBe('store.stale-fence');
    });
  });
}
