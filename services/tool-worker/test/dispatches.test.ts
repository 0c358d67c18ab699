import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallOutput } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { toShortOutput } from '../src/call-outputs.ts';
import { createCallRunner } from '../src/machine.ts';
import { never, openTestMachine } from './machines.ts';
import { claimEarlier, createProbe, ok, toRow, unknown, type Probe } from './probe.ts';
import { testSessionId, testTurnId } from './strict-call-log.ts';

describe('an approval', () => {
  test('is asked for before anything is journaled, and its acceptance lets the call run', async () => {
    const probe = createProbe({ approvalPolicy: 'always' });
    expect(await probe.executor.run(probe.request, never)).toEqual({
      kind: 'awaiting-approval',
      approvalId: 'ap_1.1.0',
    });
    expect([probe.store.questions, probe.journal.list(), probe.log]).toEqual([['probe: go?'], [], []]);
    probe.store.accept('1.1.0');
    expect(await probe.executor.run(probe.request, never)).toMatchObject({ status: 'ok' });
  });

  test('is not waited for again when the claim that it had allowed died before it started anything', async () => {
    const probe = createProbe({ approvalPolicy: 'always' });
    await probe.executor.run(probe.request, never);
    probe.store.accept('1.1.0');
    claimEarlier(probe);
    expect(await probe.executor.run(probe.request, never)).toMatchObject({ kind: 'finished', status: 'ok' });
    expect([probe.store.claims, probe.log]).toEqual([
      ['run', 'resolve', 'run'],
      ['run', 'discard 1.1.0'],
    ]);
  });

  test('is waited for when a claim died before it asked', async () => {
    const probe = createProbe({ approvalPolicy: 'always' });
    claimEarlier(probe);
    expect(await probe.executor.run(probe.request, never)).toEqual({
      kind: 'awaiting-approval',
      approvalId: 'ap_1.1.0',
    });
    expect(probe.log).toEqual([]);
  });

  test('is not asked for again when the call may have started', async () => {
    const probe = createProbe({ approvalPolicy: 'always' });
    claimEarlier(probe);
    probe.journal.begin(toRow(probe));
    expect(await probe.executor.run(probe.request, never)).toMatchObject({ status: 'ok' });
    expect(probe.store.questions).toEqual([]);
  });

  test('names the command, and the files of a patch', async () => {
    const { machine, store, workspace } = openTestMachine();
    const base = { cwd: workspace, approvalPolicy: 'always' } as const;
    const command = store.add({
      ...base,
      callId: '1.1.0',
      tool: 'exec_command',
      input: '{"cmd":"rm -rf\\n  build"}',
    });
    const input = '*** Begin Patch\n*** Add File: a\n+x\n*** Add File: b\n+x\n*** End Patch';
    const patch = store.add({ ...base, callId: '1.1.1', tool: 'apply_patch', input, form: 'freeform' });
    await machine.calls.run(command, never);
    await machine.calls.run(patch, never);
    expect(store.questions).toEqual([`exec_command in ${workspace}: rm -rf build`, 'apply_patch: A a, A b']);
    expect(existsSync(join(workspace, 'a'))).toBe(false);
  });
});

describe('a second dispatch', () => {
  function createHeld(): { probe: Probe; started: Promise<unknown>; release: () => void } {
    const gate = Promise.withResolvers<CallOutput>();
    const started = Promise.withResolvers<void>();
    const probe = createProbe({
      run: (run) => {
        run.signal.addEventListener('abort', () => gate.resolve(toShortOutput('aborted', 'aborted')));
        started.resolve();
        return gate.promise;
      },
    });
    return { probe, started: started.promise, release: () => gate.resolve(ok) };
  }

  test('joins the running one', async () => {
    const { probe, started, release } = createHeld();
    const first = probe.executor.run(probe.request, never);
    await started;
    const second = probe.executor.run(probe.request, never);
    release();
    expect(await Promise.all([first, second])).toMatchObject([{ status: 'ok' }, { status: 'ok' }]);
    expect([probe.log, probe.store.claims]).toEqual([['run', 'discard 1.1.0'], ['run']]);
  });

  test('finds the call still running when the first one was superseded', async () => {
    const { probe, started, release } = createHeld();
    const lost = new AbortController();
    const first = probe.executor.run(probe.request, lost.signal);
    await started;
    lost.abort('superseded');
    await expect(first).rejects.toThrow('a newer dispatch of this call follows it');
    const second = probe.executor.run(probe.request, never);
    release();
    expect(await second).toMatchObject({ status: 'ok' });
    expect(probe.log).toEqual(['run', 'discard 1.1.0']);
  });

  test('that never comes leaves the call stopped when its turn has ended', async () => {
    const { probe, started } = createHeld();
    const lost = new AbortController();
    const first = probe.executor.run(probe.request, lost.signal);
    await started;
    probe.store.seal('1.1.0');
    const joined = probe.executor.run(probe.request, never);
    lost.abort('superseded');
    await expect(first).rejects.toThrow('a newer dispatch');
    expect(await joined).toEqual({ kind: 'sealed' });
  });

  test('may be stopped by the end of its turn', async () => {
    const { probe, started } = createHeld();
    const running = probe.executor.run(probe.request, never);
    await started;
    probe.executor.stopTurn({ sessionId: testSessionId, turnId: 'another' });
    probe.executor.stopTurn({ sessionId: testSessionId, turnId: testTurnId });
    expect(await running).toMatchObject({ kind: 'finished', status: 'aborted' });
  });
});

test('after a restart what the journal has is taken up without a dispatch', async () => {
  const probe = createProbe({ resolve: () => Promise.resolve(unknown) });
  claimEarlier(probe);
  probe.journal.begin(toRow(probe));
  probe.executor.recover();
  expect(await probe.store.finished('1.1.0')).toEqual(unknown);
});

test('the in-process engine runs calls through the same door', async () => {
  const { machine, store, workspace } = openTestMachine();
  const input = '*** Begin Patch\n*** Update File: a\n-a\n+b\n*** End Patch';
  const { sessionId, callId } = store.add({
    callId: '1.1.0',
    tool: 'apply_patch',
    input,
    cwd: workspace,
    form: 'freeform',
  });
  writeFileSync(join(workspace, 'a'), 'a\n');
  const call = { callId, tool: 'apply_patch', placement: 'machine', parallel: false } as const;
  expect(await createCallRunner(machine).run({ sessionId, call }, never)).toMatchObject({
    kind: 'finished',
    status: 'ok',
  });
  expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('b\n');
});
