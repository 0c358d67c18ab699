import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { answer, command, driveSession, expectSoundLog, script, startTestStack } from '@holdfast/testing';
import type { RunningProgram, TestStack } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

async function startWorker(name: string, workspace: string): Promise<RunningProgram> {
  const worker = stack.start(['worker', 'start', '--name', name, '--workspace', workspace]);
  await expect
    .poll(async () => (await stack.client.listMachines()).find((each) => each.name === name)?.online, {
      timeout: 20_000,
    })
    .toBe(true);
  return worker;
}

describe('another machine', () => {
  test('runs the calls of the sessions that name it, in its workspace', async () => {
    const workspace = stack.folder();
    const worker = await startWorker('gpu-1', workspace);
    const session = await driveSession(stack, script(command('touch here'), answer('ok')), {
      machine: 'gpu-1',
      cwd: workspace,
      prompt: 'go',
    });
    await session.untilTurnEnds();
    expect(existsSync(join(workspace, 'here'))).toBe(true);
    const rows = (await stack.processes()).map((row) => row.role);
    expect(rows).toContain('tool-worker:gpu-1');
    worker.kill('SIGTERM');
    expect((await worker.result).code).toBe(0);
  });

  test('is served by one process only; a second one is refused in a sentence', async () => {
    const workspace = stack.folder();
    const worker = await startWorker('gpu-2', workspace);
    const second = await stack.holdfast(['worker', 'start', '--name', 'gpu-2', '--workspace', workspace]);
    expect(second.code).toBe(2);
    expect(second.stderr).toContain('Another tool worker already serves this machine');
    worker.kill('SIGTERM');
    await worker.result;
  });

  test('that disappears leaves the turn waiting visibly, and the turn goes on when it is back', async () => {
    const workspace = stack.folder();
    const worker = await startWorker('gpu-3', workspace);
    const reply = { ...command('echo ran >> effect'), gate: 'before-offline' };
    const session = await driveSession(stack, script(reply, answer('back')), {
      machine: 'gpu-3',
      cwd: workspace,
      prompt: 'go',
    });
    await stack.model.gate('before-offline').waiting();
    worker.kill('SIGKILL');
    await worker.result;
    stack.model.gate('before-offline').open();
    const waiting = await session.until((event) => event.type === 'status' && event.status === 'waiting');
    expect(waiting.at(-1)).toMatchObject({ reason: 'machine' });
    expect(await session.read()).toMatchObject({ state: 'waiting' });
    const again = await startWorker('gpu-3', workspace);
    const events = await session.untilTurnEnds();
    expectSoundLog(events);
    expect(events.at(-1)).toMatchObject({ status: 'completed' });
    const result = events.filter((event) => event.type === 'tool_result');
    expect(result.map((event) => event.status)).toEqual(['ok']);
    again.kill('SIGTERM');
    await again.result;
  });
});
