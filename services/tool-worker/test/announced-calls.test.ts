import type { CallOutput } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { toShortOutput } from '../src/call-outputs.ts';
import { never } from './machines.ts';
import { claimEarlier, createProbe, ok, type ProbeOptions } from './probe.ts';
import { testSessionId, testTurnId } from './strict-call-log.ts';

const announced = { sessionId: testSessionId, callIds: ['1.1.0'] };
const origin = { workflowId: 'w', runId: 'r', activityId: '5' };

/** A probe whose tool runs until it is released or stopped. */
function createHeld(options: ProbeOptions = {}) {
  const gate = Promise.withResolvers<CallOutput>();
  const started = Promise.withResolvers<void>();
  const probe = createProbe({
    ...options,
    run: (run) => {
      run.signal.addEventListener('abort', () => gate.resolve(toShortOutput('aborted', 'aborted')));
      started.resolve();
      return gate.promise;
    },
  });
  return { probe, started: started.promise, release: () => gate.resolve(ok) };
}

describe('an announced call', () => {
  test('runs before it is dispatched, and its dispatch joins it', async () => {
    const { probe, started, release } = createHeld();
    probe.executor.anticipate(announced);
    await started;
    const dispatched = probe.executor.run({ ...probe.request, origin }, never);
    expect(probe.journal.list()).toMatchObject([{ callId: '1.1.0', origin }]);
    release();
    expect(await dispatched).toMatchObject({ kind: 'finished', status: 'ok' });
    expect([probe.store.claims, probe.log[0]]).toEqual([['run'], 'run']);
  });

  test('that has ended answers its dispatch without a question to the store', async () => {
    const probe = createProbe();
    probe.executor.anticipate(announced);
    expect(await probe.store.finished('1.1.0')).toEqual(ok);
    expect(await probe.executor.run(probe.request, never)).toMatchObject({ kind: 'finished', status: 'ok' });
    expect(probe.store.claims).toEqual(['run']);
  });

  test('answers only one dispatch from memory; a repeated one asks the store', async () => {
    const probe = createProbe();
    probe.executor.anticipate(announced);
    await probe.executor.run(probe.request, never);
    expect(await probe.executor.run(probe.request, never)).toMatchObject({ kind: 'finished', status: 'ok' });
    expect([probe.store.claims, probe.log.filter((line) => line === 'run')]).toEqual([
      ['run', 'finished'],
      ['run'],
    ]);
  });

  test('that is announced again, or while its dispatch runs, is not started again', async () => {
    const { probe, started, release } = createHeld();
    const dispatched = probe.executor.run(probe.request, never);
    await started;
    probe.executor.anticipate(announced);
    release();
    await dispatched;
    probe.executor.anticipate(announced);
    await probe.executor.run(probe.request, never);
    expect(probe.log.filter((line) => line === 'run')).toEqual(['run']);
  });

  test('is looked up and not run when an earlier process had claimed it', async () => {
    const probe = createProbe({
      resolve: () => Promise.reject(new Error('not asked without a journal row')),
    });
    claimEarlier(probe);
    probe.executor.anticipate(announced);
    expect(await probe.executor.run(probe.request, never)).toMatchObject({ kind: 'finished', status: 'ok' });
    expect(probe.store.claims).toEqual(['resolve']);
  });

  test('is stopped by the end of its turn, although no dispatch ever came', async () => {
    const { probe, started } = createHeld();
    probe.executor.anticipate(announced);
    await started;
    probe.store.seal('1.1.0');
    probe.executor.stopTurn({ sessionId: testSessionId, turnId: testTurnId });
    expect(await probe.executor.run(probe.request, never)).toEqual({ kind: 'sealed' });
    expect(probe.journal.list()).toEqual([]);
  });

  test('is stopped when no dispatch comes and the store does not want it any more', async () => {
    const stopped = Promise.withResolvers<void>();
    const probe = createProbe({
      dispatchPatienceMs: 5,
      run: (run) =>
        new Promise((resolve) => {
          probe.store.seal('1.1.0');
          run.signal.addEventListener('abort', () => {
            resolve(toShortOutput('aborted', 'aborted'));
            stopped.resolve();
          });
        }),
    });
    probe.executor.anticipate(announced);
    await stopped.promise;
    expect(await probe.executor.run(probe.request, never)).toEqual({ kind: 'sealed' });
  });

  test('goes on while the store wants it, however late its dispatch is', async () => {
    const { probe, started, release } = createHeld({ dispatchPatienceMs: 5 });
    probe.executor.anticipate(announced);
    await started;
    const asked = () => probe.store.claims.filter((kind) => kind === 'resolve').length;
    await expect.poll(asked).toBeGreaterThan(2);
    release();
    expect(await probe.executor.run(probe.request, never)).toMatchObject({ kind: 'finished', status: 'ok' });
    expect(probe.log.filter((line) => line === 'run')).toEqual(['run']);
  });

  test('that failed for want of the store is claimed by its dispatch, as if nothing had been announced', async () => {
    const probe = createProbe();
    probe.store.refuseFinish = new Error('the store is away');
    probe.executor.anticipate(announced);
    await expect.poll(() => probe.journal.list()[0]?.output).toEqual(ok);
    expect(await probe.executor.run(probe.request, never)).toMatchObject({ kind: 'finished', status: 'ok' });
    expect([probe.store.claims, probe.log.filter((line) => line === 'run')]).toEqual([
      ['run', 'resolve'],
      ['run'],
    ]);
  });

  test('asks for its approval at once, and its dispatch learns of the question', async () => {
    const probe = createProbe({ approvalPolicy: 'always' });
    probe.executor.anticipate(announced);
    expect(await probe.executor.run(probe.request, never)).toMatchObject({ kind: 'awaiting-approval' });
    expect([probe.store.questions.length, probe.log]).toEqual([1, []]);
  });

  test('is not started by a worker that is stopping', async () => {
    const probe = createProbe();
    await probe.executor.close({ limitMs: 0 });
    probe.executor.anticipate(announced);
    expect(probe.store.claims).toEqual([]);
  });
});
