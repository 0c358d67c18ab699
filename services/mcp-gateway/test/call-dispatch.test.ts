import { setImmediate } from 'node:timers/promises';
import { Failure } from '@holdfast/failures';
import { describe, expect, test } from 'vitest';
import type { ToolOutcome, ToolRequest } from '../src/tool-caller.ts';
import { sessionId, toCall } from './call-log.ts';
import { setUp, toStable } from './call-scripts.ts';
import { toAnswer } from './gateways.ts';

const never = () => new Promise<never>(() => undefined);
const untilAborted = (request: ToolRequest) => {
  const { promise, reject } = Promise.withResolvers<never>();
  request.signal.addEventListener('abort', () => reject(request.signal.reason as Error), { once: true });
  return promise;
};

describe('a call that is dispatched again', () => {
  test('is not run again when it was finished, and nothing is run for a sealed turn', async () => {
    const { store, tools, run } = setUp({
      mcp__docs__do: { effects: 'execute', run: () => toAnswer('done') },
    });
    store.add(toCall('1.1.0', { tool: 'mcp__docs__do' }));
    const first = await run('1.1.0');
    expect(await run('1.1.0')).toEqual(first);
    store.add(toCall('1.1.1', { tool: 'mcp__docs__do' }));
    store.seal('1.1.1');
    expect(await run('1.1.1')).toEqual({ kind: 'sealed' });
    expect(tools.ran).toEqual(['mcp__docs__do']);
  });

  test('to another gateway while the first is lost is reported as unknown, with what is known', async () => {
    const { store, tools, start, run } = setUp({ mcp__docs__do: { effects: 'execute', run: never } });
    store.add(toCall('1.1.0', { tool: 'mcp__docs__do' }));
    void run('1.1.0');
    expect(await run('1.1.0', { by: start('boot-2') })).toMatchObject({
      kind: 'finished',
      status: 'unknown',
    });
    expect(store.outputs().map(toStable)).toEqual([
      {
        status: 'unknown',
        text: 'It is not known whether this call took effect; look before doing it again. mcp__docs__do was given to the MCP gateway process boot-1, which was lost before it reported a result.',
      },
    ]);
    expect(tools.ran).toEqual(['mcp__docs__do']);
  });

  test('to another gateway is run again when the tool only reads', async () => {
    let runs = 0;
    const { store, tools, start, run } = setUp({
      mcp__docs__get: {
        effects: 'read',
        run: () => {
          runs += 1;
          return runs === 1 ? never() : toAnswer('second');
        },
      },
    });
    store.add(toCall('1.1.0', { tool: 'mcp__docs__get' }));
    void run('1.1.0');
    await tools.running(1);
    expect(await run('1.1.0', { by: start('boot-2') })).toMatchObject({ kind: 'finished', status: 'ok' });
    expect(runs).toBe(2);
  });

  test('in the same process joins the running one and commits under the newest fence', async () => {
    const answer = Promise.withResolvers<ToolOutcome>();
    const { store, tools, run } = setUp({ mcp__docs__do: { effects: 'execute', run: () => answer.promise } });
    store.add(toCall('1.1.0', { tool: 'mcp__docs__do' }));
    const stop = new AbortController();
    const first = run('1.1.0', { signal: stop.signal });
    await tools.running(1);
    const second = run('1.1.0');
    await setImmediate();
    stop.abort(new Error('this attempt is over'));
    await expect(first).rejects.toThrow('this attempt is over');
    answer.resolve(toAnswer('done'));
    expect(await second).toMatchObject({ kind: 'finished', status: 'ok' });
    expect(store.written).toMatchObject([{ kind: 'output', fence: 2 }]);
    expect(tools.ran).toEqual(['mcp__docs__do']);
  });

  test('after its result could not be committed commits that result', async () => {
    const { store, tools, run } = setUp({
      mcp__docs__do: { effects: 'execute', run: () => toAnswer('done') },
    });
    store.add(toCall('1.1.0', { tool: 'mcp__docs__do' }));
    store.beforeFinish = () => {
      throw new Failure('store.unavailable');
    };
    await expect(run('1.1.0')).rejects.toMatchObject({ code: 'store.unavailable' });
    store.beforeFinish = () => undefined;
    expect(await run('1.1.0')).toMatchObject({ kind: 'finished', status: 'ok' });
    expect(tools.ran).toEqual(['mcp__docs__do']);
  });

  test('is told what another attempt recorded when its own fence is stale', async () => {
    const { store, start, run } = setUp({
      mcp__docs__do: { effects: 'execute', run: () => toAnswer('done') },
    });
    store.add(toCall('1.1.0', { tool: 'mcp__docs__do' }));
    const other = start('boot-2');
    store.beforeFinish = async () => {
      store.beforeFinish = () => undefined;
      await run('1.1.0', { by: other });
      throw new Failure('store.stale-fence');
    };
    expect(await run('1.1.0')).toMatchObject({ kind: 'finished', status: 'unknown' });
    expect(store.outputs()).toHaveLength(1);
  });

  test('says what it knows when another attempt claimed the call but wrote nothing', async () => {
    const { store, run } = setUp({ mcp__docs__do: { effects: 'execute', run: () => toAnswer('done') } });
    store.add(toCall('1.1.0', { tool: 'mcp__docs__do' }));
    store.beforeFinish = async () => {
      store.beforeFinish = () => undefined;
      await store.claimCall({ sessionId, callId: '1.1.0', machineId: 'gateway-mcp', bootId: 'boot-2' });
    };
    expect(await run('1.1.0')).toMatchObject({ kind: 'finished', status: 'ok' });
    expect(store.written).toMatchObject([{ kind: 'output', fence: 3 }]);
  });
});

describe('the end of a call from outside', () => {
  test('by its own signal cancels the request and records nothing', async () => {
    const { store, tools, run } = setUp({ mcp__docs__do: { effects: 'execute', run: untilAborted } });
    store.add(toCall('1.1.0', { tool: 'mcp__docs__do' }));
    const stop = new AbortController();
    const running = run('1.1.0', { signal: stop.signal });
    await tools.running(1);
    stop.abort(new Error('stop'));
    await expect(running).rejects.toThrow('stop');
    expect(store.written).toEqual([]);
  });

  test('by the end of its turn leaves other turns alone', async () => {
    const answer = Promise.withResolvers<ToolOutcome>();
    const { store, tools, runner, run } = setUp({
      mcp__docs__do: { effects: 'execute', run: untilAborted },
      mcp__docs__other: { effects: 'execute', run: () => answer.promise },
    });
    store.add(toCall('1.1.0', { tool: 'mcp__docs__do' }));
    store.add({ ...toCall('2.1.0', { tool: 'mcp__docs__other' }), turnId: 'turn-2' });
    const ended = run('1.1.0');
    const other = run('2.1.0');
    await tools.running(2);
    runner.endTurn({ sessionId, turnId: 'turn-1' });
    expect(await ended).toEqual({ kind: 'sealed' });
    answer.resolve(toAnswer('done'));
    expect(await other).toMatchObject({ kind: 'finished', status: 'ok' });
    expect(store.outputs()).toHaveLength(1);
  });
});
