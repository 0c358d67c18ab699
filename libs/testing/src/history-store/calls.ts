import { describe, expect, test } from 'vitest';
import { openScenario, toCode, toNewCall, toOutput, type StoreUnderTest } from './scenario.ts';

const completed = { type: 'step', step: 1, status: 'completed' };

const output = (callId: string, text: string) => ({
  type: 'function_call_output',
  call_id: callId,
  output: text,
});

export function describeCalls(subject: () => StoreUnderTest): void {
  describe('claiming a call', () => {
    test('tells the machine how its model reads outputs', async () => {
      const model = { outputStyle: 'lines', tools: 'files' } as const;
      const { startCalls, claimToRun } = await openScenario(subject().store, { model });
      await startCalls('a', [toNewCall('c0')]);
      const { call } = await claimToRun('1.1.0');
      expect(call.context).toEqual({ cwd: '/work', approvalPolicy: 'never', outputStyle: 'lines' });
    });

    test('lets the first claim run it and every later one only look', async () => {
      const { sessionId, startCalls, claim, machine } = await openScenario(subject().store);
      await startCalls('a', [toNewCall('c0')]);
      const call = {
        sessionId,
        turnId: 'a',
        callId: '1.1.0',
        modelCallId: 'c0',
        tool: 'exec_command',
        form: 'function',
        input: '{"cmd":"ls"}',
        context: { cwd: '/work', approvalPolicy: 'never' },
      };
      const { machineId } = machine;
      expect(await claim('1.1.0')).toEqual({ kind: 'run', fence: 1, call, approval: 'none' });
      expect(await claim('1.1.0', 'boot-2')).toEqual({
        kind: 'resolve',
        fence: 2,
        call,
        previous: { machineId, bootId: 'boot-1' },
      });
      expect(await claim('1.1.0', 'boot-3')).toEqual({
        kind: 'resolve',
        fence: 3,
        call,
        previous: { machineId, bootId: 'boot-2' },
      });
    });

    test('of a call that ended returns how it ended', async () => {
      const { startCalls, claim, claimToRun, finish } = await openScenario(subject().store);
      await startCalls('a', [toNewCall('c0')]);
      const { fence } = await claimToRun('1.1.0');
      await finish('1.1.0', fence, toOutput('no', { status: 'failed', tokens: 7 }));
      expect(await claim('1.1.0')).toEqual({ kind: 'finished', status: 'failed', outputTokens: 7 });
    });

    test('of a turn that ended is sealed, whether or not the call ran', async () => {
      const { startCalls, claim, claimToRun, finish, seal } = await openScenario(subject().store);
      await startCalls('a', [toNewCall('c0'), toNewCall('c1')]);
      const { fence } = await claimToRun('1.1.0');
      await finish('1.1.0', fence);
      await seal('a', { kind: 'cancelled' });
      expect(await claim('1.1.0')).toEqual({ kind: 'sealed' });
      expect(await claim('1.1.1')).toEqual({ kind: 'sealed' });
    });

    test('of a call that does not exist is call.unknown', async () => {
      const { claim, finish, startCalls } = await openScenario(subject().store);
      await startCalls('a', [toNewCall('c0')]);
      expect(await toCode(claim('1.1.1'))).toBe('call.unknown');
      expect(await toCode(finish('9.9.9', 1))).toBe('call.unknown');
    });
  });

  describe('finishing calls', () => {
    test('tells each result at once and gives the model the outputs in the order it asked', async () => {
      const { startCalls, claimToRun, finish, bodies, items } = await openScenario(subject().store);
      const calls = [
        toNewCall('c0'),
        toNewCall('c1', { tool: 'apply_patch', form: 'freeform', input: 'p' }),
        toNewCall('c2'),
      ];
      await startCalls('a', calls);
      const seen: number[] = [];
      for (const [callId, text] of [
        ['1.1.2', 'two'],
        ['1.1.0', 'zero'],
        ['1.1.1', 'one'],
      ] as const) {
        const { fence } = await claimToRun(callId);
        await finish(callId, fence, toOutput(text));
        seen.push((await items()).length);
      }
      expect(seen).toEqual([4, 5, 7]);
      const result = (callId: string, tool: string, text: string) => ({
        type: 'tool_result',
        callId,
        tool,
        status: 'ok',
        text,
        durationMs: 12,
      });
      expect((await bodies()).slice(6)).toEqual([
        result('1.1.2', 'exec_command', 'two'),
        result('1.1.0', 'exec_command', 'zero'),
        result('1.1.1', 'apply_patch', 'one'),
        completed,
      ]);
      expect((await items()).slice(4)).toEqual([
        output('c0', 'zero'),
        { type: 'custom_tool_call_output', call_id: 'c1', output: 'one' },
        output('c2', 'two'),
      ]);
    });

    test('keeps what the person may want to know of the result', async () => {
      const { startCalls, claimToRun, finish, bodies } = await openScenario(subject().store);
      await startCalls('a', [toNewCall('c0')]);
      const more = {
        exitCode: 0,
        full: { digest: 'ab'.repeat(32), size: 5, mediaType: 'text/plain' },
        changes: [{ path: 'a.txt', kind: 'add' as const }],
      };
      const { fence } = await claimToRun('1.1.0');
      expect(await finish('1.1.0', fence, toOutput('x', more))).toEqual({ status: 'ok', outputTokens: 3 });
      const [result] = (await bodies()).slice(-2);
      expect(result).toEqual({
        type: 'tool_result',
        callId: '1.1.0',
        tool: 'exec_command',
        status: 'ok',
        text: 'x',
        durationMs: 12,
        ...more,
      });
    });

    test('keeps the image of an output with its item, for functions and freeform tools', async () => {
      const { startCalls, claimToRun, finish, items, bodies } = await openScenario(subject().store);
      await startCalls('a', [toNewCall('c0'), toNewCall('c1', { form: 'freeform' })]);
      const image = { digest: 'cd'.repeat(32), size: 5, mediaType: 'image/png' };
      for (const callId of ['1.1.0', '1.1.1'])
        await finish(callId, (await claimToRun(callId)).fence, toOutput('seen', { image }));
      expect((await items()).slice(-2)).toEqual([
        { ...output('c0', 'seen'), image },
        { type: 'custom_tool_call_output', call_id: 'c1', output: 'seen', image },
      ]);
      expect((await bodies()).at(-2)).toMatchObject({ type: 'tool_result', image });
    });

    test('again returns the recorded status and writes nothing', async () => {
      const { startCalls, claimToRun, finish, events } = await openScenario(subject().store);
      await startCalls('a', [toNewCall('c0')]);
      const { fence } = await claimToRun('1.1.0');
      await finish('1.1.0', fence, toOutput('x', { tokens: 9 }));
      const before = await events();
      expect(await finish('1.1.0', fence, toOutput('y', { status: 'failed' }))).toEqual({
        status: 'ok',
        outputTokens: 9,
      });
      expect(await events()).toEqual(before);
    });

    test('is refused for whoever lost the claim, and for whoever never had it', async () => {
      const { startCalls, claim, claimToRun, finish } = await openScenario(subject().store);
      await startCalls('a', [toNewCall('c0')]);
      expect(await toCode(finish('1.1.0', 0))).toBe('store.stale-fence');
      const { fence } = await claimToRun('1.1.0');
      await claim('1.1.0', 'boot-2');
      expect(await toCode(finish('1.1.0', fence))).toBe('store.stale-fence');
      expect(await finish('1.1.0', fence + 1)).toEqual({ status: 'ok', outputTokens: 3 });
      expect(await toCode(finish('1.1.0', fence))).toBe('store.stale-fence');
    });

    test('settling ends a call whoever holds it, and leaves an output that is there', async () => {
      const { store, sessionId, startCalls, claimToRun, finish, bodies } = await openScenario(
        subject().store,
      );
      await startCalls('a', [toNewCall('c0'), toNewCall('c1')]);
      const held = await claimToRun('1.1.0');
      const settle = (callId: string) =>
        store.settleCall({ sessionId, callId, output: toOutput('gone', { status: 'unknown', tokens: 1 }) });
      expect(await settle('1.1.0')).toEqual({ status: 'unknown', outputTokens: 1 });
      expect(await toCode(finish('1.1.0', held.fence))).toBe('store.stale-fence');
      const other = await claimToRun('1.1.1');
      await finish('1.1.1', other.fence);
      expect(await settle('1.1.1')).toEqual({ status: 'ok', outputTokens: 3 });
      expect((await bodies()).slice(-3)).toMatchObject([
        { type: 'tool_result', callId: '1.1.0', status: 'unknown' },
        { type: 'tool_result', callId: '1.1.1', status: 'ok' },
        completed,
      ]);
    });

    test('progress is written while the claim is held, each note once', async () => {
      const { store, sessionId, startCalls, claimToRun, finish, bodies } = await openScenario(
        subject().store,
      );
      await startCalls('a', [toNewCall('c0', { placement: 'gateway' })]);
      const { fence } = await claimToRun('1.1.0');
      const note = (progress: number, by = fence) =>
        store.appendProgress({ sessionId, callId: '1.1.0', fence: by, progress, total: 2, message: 'half' });
      await note(1);
      await note(1);
      await note(2, fence + 1);
      await note(2);
      await finish('1.1.0', fence);
      await note(3);
      const body = { type: 'mcp_progress', callId: '1.1.0', total: 2, message: 'half' };
      expect((await bodies()).slice(4, -2)).toEqual([
        { ...body, progress: 1 },
        { ...body, progress: 2 },
      ]);
    });
  });
}
