import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionEvent } from '@holdfast/protocol';
import { resolvePaths } from '@holdfast/stack';
import { expect, test } from 'vitest';
import { checkHost } from '../src/doctor/host-checks.ts';
import { checkStack, toStepCheck } from '../src/doctor/stack-checks.ts';
import { sessionId, turnId } from './session-events.ts';

function toSteps(times: readonly number[]): SessionEvent[] {
  return times.map((time, index) => ({
    type: 'step',
    step: index + 1,
    status: 'started',
    seq: index + 1,
    sessionId,
    turnId,
    at: new Date(time).toISOString(),
  }));
}

test('the doctor judges by the fastest step after the first', () => {
  expect(toStepCheck(toSteps([0, 900, 940, 985, 1_025, 1_400]))).toEqual({
    name: 'step',
    state: 'ok',
    detail: 'a step with one command takes 40 ms',
  });
});

test('the doctor names the settings of a slow Temporal server', () => {
  expect(toStepCheck(toSteps([0, 300, 520, 730]))).toMatchObject({
    state: 'failed',
    detail: 'a step with one command takes 210 ms',
    fix: expect.stringContaining('history.transferProcessorMaxPollRPS=1000'),
  });
});

test('the doctor finds an old Node and a missing git, and says how to repair them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-doctor-'));
  const env = { HOLDFAST_STATE_DIR: join(folder, 'not', 'yet'), XDG_CACHE_HOME: folder, PATH: folder };
  try {
    const checks = await checkHost({ paths: resolvePaths({ root: '/', env }), env, nodeVersion: '20.1.0' });
    expect(checks.filter(({ state }) => state === 'failed')).toEqual([
      {
        name: 'node',
        state: 'failed',
        detail: '20.1.0 is too old',
        fix: 'run `npm ci` in the checkout, which installs the pinned Node',
      },
      {
        name: 'git',
        state: 'failed',
        detail: 'is not on the PATH',
        fix: 'install git; agents and the demo use it',
      },
    ]);
    expect(await checkStack({ root: '/', env }, resolvePaths({ root: '/', env }))).toEqual([
      { name: 'stack', state: 'failed', detail: 'is down', fix: 'start it with `holdfast up`' },
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
