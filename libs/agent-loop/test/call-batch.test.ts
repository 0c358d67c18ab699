import type { CallRef } from '@holdfast/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runCalls, toGroups, type ToolCallHandler } from '../src/index.ts';

const call = (index: number, parallel: boolean): CallRef => ({
  callId: `1.1.${index}`,
  tool: parallel ? 'read' : 'write',
  placement: 'machine',
  parallel,
});

const batch = (...kinds: boolean[]) => ({
  sessionId: 's',
  turnId: 't',
  calls: kinds.map((parallel, index) => call(index, parallel)),
});

describe('a batch of calls', () => {
  test('runs neighbouring parallel calls together and an exclusive call alone, in the asked order', async () => {
    const log: string[] = [];
    const gates = new Map<string, () => void>();
    const handler: ToolCallHandler = {
      run: async ({ call: { callId } }) => {
        log.push(`start ${callId}`);
        await new Promise<void>((resolve) => gates.set(callId, resolve));
        log.push(`end ${callId}`);
        return { kind: 'finished', status: 'ok', outputTokens: 0 };
      },
    };
    const done = runCalls(handler, batch(true, true, false, true), new AbortController().signal);
    const open = async (callId: string) => {
      await expect.poll(() => gates.has(callId)).toBe(true);
      gates.get(callId)?.();
    };
    await open('1.1.1');
    await open('1.1.0');
    await open('1.1.2');
    await open('1.1.3');
    expect(await done).toBe(false);
    expect(log).toEqual([
      'start 1.1.0',
      'start 1.1.1',
      'end 1.1.1',
      'end 1.1.0',
      'start 1.1.2',
      'end 1.1.2',
      'start 1.1.3',
      'end 1.1.3',
    ]);
  });

  test('dispatches nothing more once a call finds the turn sealed', async () => {
    const started: string[] = [];
    const handler: ToolCallHandler = {
      run: ({ call: { callId } }) => {
        started.push(callId);
        return Promise.resolve({ kind: 'sealed' });
      },
    };
    expect(await runCalls(handler, batch(false, false), new AbortController().signal)).toBe(true);
    expect(started).toEqual(['1.1.0']);
  });

  test('dispatches nothing after an abort', async () => {
    const abort = new AbortController();
    const started: string[] = [];
    const handler: ToolCallHandler = {
      run: ({ call: { callId } }) => {
        started.push(callId);
        abort.abort();
        return Promise.resolve({ kind: 'finished', status: 'aborted', outputTokens: 0 });
      },
    };
    await runCalls(handler, batch(false, false), abort.signal);
    expect(started).toEqual(['1.1.0']);
  });

  test('keeps every call exactly once and in order, whatever the mix', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean()), (kinds) => {
        const groups = toGroups(batch(...kinds).calls);
        expect(groups.flat().map((each) => each.callId)).toEqual(kinds.map((_, index) => `1.1.${index}`));
        for (const group of groups)
          expect(group.length === 1 || group.every((each) => each.parallel)).toBe(true);
      }),
    );
  });
});
