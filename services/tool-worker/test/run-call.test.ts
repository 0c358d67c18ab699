import { Failure } from '@holdfast/failures';
import { describe, expect, test } from 'vitest';
import { toShortOutput } from '../src/call-outputs.ts';
import { never } from './machines.ts';
import { claimEarlier, createProbe, ok, toRow, unknown, type Probe } from './probe.ts';
import { testSessionId, type StrictCallLog } from './strict-call-log.ts';

describe('a claimed call', () => {
  test('is in the journal while it runs and gone from it when the store has the outcome', async () => {
    const rows: unknown[] = [];
    const probe: Probe = createProbe({
      run: async () => {
        rows.push(probe.journal.list());
        return Promise.resolve(ok);
      },
    });
    const origin = { workflowId: 'w', runId: 'r', activityId: '5' };
    const result = await probe.executor.run({ ...probe.request, origin }, never);
    expect(result).toEqual({ kind: 'finished', status: 'ok', outputTokens: ok.tokens });
    expect(rows).toEqual([[toRow(probe, { bootId: 'boot-2', origin })]]);
    await Promise.resolve();
    expect([probe.journal.list(), probe.log]).toEqual([[], ['run', 'discard 1.1.0']]);
  });

  test('of a tool that this machine does not have fails with the known words', async () => {
    const probe = createProbe({ tool: 'nothing' });
    await probe.executor.run(probe.request, never);
    expect(probe.store.outputOf('1.1.0')).toEqual(toShortOutput('failed', 'unsupported call: nothing'));
  });

  test('that is finished, sealed or waits for an approval is not run', async () => {
    for (const [change, result] of [
      [(store: StrictCallLog) => store.seal('1.1.0'), { kind: 'sealed' }],
      [
        async (store: StrictCallLog) => {
          store.claimElsewhere('1.1.0', 'm1');
          await store.finishCall({ sessionId: testSessionId, callId: '1.1.0', fence: 1, output: ok });
        },
        { kind: 'finished', status: 'ok', outputTokens: ok.tokens },
      ],
      [
        async (store: StrictCallLog) => {
          store.claimElsewhere('1.1.0', 'm1');
          await store.askApproval({ sessionId: testSessionId, callId: '1.1.0', fence: 1, question: '' });
        },
        { kind: 'awaiting-approval', approvalId: 'ap_1.1.0' },
      ],
    ] as const) {
      const probe = createProbe();
      await change(probe.store);
      expect(await probe.executor.run(probe.request, never)).toEqual(result);
      expect(probe.log).toEqual([]);
    }
  });
});

describe('a call that was claimed before', () => {
  test('and left no row has not started, so it runs', async () => {
    const probe = createProbe();
    claimEarlier(probe);
    expect(await probe.executor.run(probe.request, never)).toMatchObject({ status: 'ok' });
    expect(probe.log).toEqual(['run', 'discard 1.1.0']);
  });

  test('and left a row runs only when its tool is certain that nothing has happened', async () => {
    const probe = createProbe();
    claimEarlier(probe);
    probe.journal.begin(toRow(probe));
    expect(await probe.executor.run(probe.request, never)).toMatchObject({ status: 'ok' });
    expect(probe.log).toEqual([
      'resolve {"evidence":{"plan":1},"sameKernelBoot":true}',
      'run',
      'discard 1.1.0',
    ]);
  });

  test('and left a row of an earlier run of the system lets the tool know', async () => {
    const probe = createProbe({ resolve: () => Promise.resolve(unknown) });
    claimEarlier(probe);
    probe.journal.begin(toRow(probe, { kernelBoot: 'kernel-0' }));
    expect(await probe.executor.run(probe.request, never)).toMatchObject({ status: 'unknown' });
    expect(probe.log).toEqual(['resolve {"evidence":{"plan":1},"sameKernelBoot":false}', 'discard 1.1.0']);
  });

  test('and left an outcome reports that, without asking the tool', async () => {
    const probe = createProbe();
    claimEarlier(probe);
    probe.journal.begin(toRow(probe));
    probe.journal.settle(probe.key, unknown);
    await probe.executor.run(probe.request, never);
    expect([probe.store.outputOf('1.1.0'), probe.log]).toEqual([unknown, ['discard 1.1.0']]);
  });

  test('is resolved by its row also when the store has forgotten the claim', async () => {
    const probe = createProbe({ resolve: () => Promise.resolve(unknown) });
    probe.journal.begin(toRow(probe));
    expect(await probe.executor.run(probe.request, never)).toMatchObject({ status: 'unknown' });
    expect(probe.store.claims).toEqual(['run']);
  });

  test('by another machine is unknown', async () => {
    const probe = createProbe();
    probe.store.claimElsewhere('1.1.0', 'm0');
    expect(await probe.executor.run(probe.request, never)).toMatchObject({ status: 'unknown' });
    expect(probe.store.outputOf('1.1.0')?.text).toBe(
      'It is not known whether this call took effect; look before doing it again. ' +
        'It had been given to another machine, which has not reported back.',
    );
    expect(probe.log).toEqual([]);
  });

  test('and whose turn has ended meanwhile is tidied up', async () => {
    const probe = createProbe();
    claimEarlier(probe);
    probe.journal.begin(toRow(probe));
    probe.store.seal('1.1.0');
    expect(await probe.executor.run(probe.request, never)).toEqual({ kind: 'sealed' });
    expect(probe.log).toEqual(['discard 1.1.0']);
  });
});

describe('a refused commit', () => {
  test('asks for the truth and writes the outcome under the newest claim', async () => {
    const probe: Probe = createProbe({
      run: async () => {
        claimEarlier(probe);
        return Promise.resolve(ok);
      },
    });
    expect(await probe.executor.run(probe.request, never)).toMatchObject({ status: 'ok' });
    expect([probe.store.claims, probe.store.fenceOf('1.1.0'), probe.log]).toEqual([
      ['run', 'resolve'],
      3,
      ['run', 'discard 1.1.0'],
    ]);
  });

  test('learns that the turn has ended', async () => {
    const probe: Probe = createProbe({
      run: async () => {
        probe.store.seal('1.1.0');
        return Promise.resolve(ok);
      },
    });
    expect(await probe.executor.run(probe.request, never)).toEqual({ kind: 'sealed' });
    expect(probe.store.outputOf('1.1.0')).toBeUndefined();
  });

  test('for want of the store keeps the outcome, and the next dispatch commits it without running again', async () => {
    const probe = createProbe();
    probe.store.refuseFinish = new Failure('store.unavailable');
    await expect(probe.executor.run(probe.request, never)).rejects.toThrow(new Failure('store.unavailable'));
    expect(await probe.executor.run(probe.request, never)).toMatchObject({ status: 'ok' });
    expect([probe.store.claims, probe.log]).toEqual([
      ['run', 'resolve'],
      ['run', 'discard 1.1.0'],
    ]);
  });
});
