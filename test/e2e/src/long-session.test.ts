import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toWorkflowId } from '@holdfast/contracts';
import { answer, command, driveSession, expectSoundLog, script, startTestStack } from '@holdfast/testing';
import type { TestStack } from '@holdfast/testing';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack({ env: { HOLDFAST_STEPS_PER_RUN: '2' } });
});
afterAll(() => stack.close());

async function firstRunOf(sessionId: string): Promise<{ first: string; now: string }> {
  const connection = await Connection.connect({ address: stack.addresses()['temporal'] ?? '' });
  const client = new Client({ connection, namespace: 'holdfast' });
  const { raw, runId } = await client.workflow.getHandle(toWorkflowId(sessionId)).describe();
  await connection.close();
  return { first: raw.workflowExecutionInfo?.firstRunId ?? '', now: runId };
}

describe('a session that continues as new in the middle of its turns', () => {
  test('runs every step once, keeps its inputs apart and refuses repeats of earlier runs', async () => {
    const steps = Array.from({ length: 7 }, (_, index) => command(`echo ${index + 1} >> steps`));
    const session = await driveSession(stack, script(...steps, answer('seven'), answer('more')));
    const input = { inputId: 'long-one', text: 'count' };
    await session.submit(input);
    await session.untilTurnEnds();
    const runs = await firstRunOf(session.sessionId);
    expect(runs.now).not.toBe(runs.first);
    await session.submit(input);
    await session.prompt('go on');
    const events = await session.untilTurnEnds(2);
    expectSoundLog(events);
    expect(readFileSync(join(session.cwd, 'steps'), 'utf8')).toBe('1\n2\n3\n4\n5\n6\n7\n');
    expect(events.filter((event) => event.type === 'text').map((event) => event.text)).toEqual([
      'seven',
      'more',
    ]);
  });

  test('makes one turn of an input that is sent again after everything was started anew', async () => {
    const session = await driveSession(stack, script(answer('before'), answer('after')));
    const input = { inputId: 'before-restart', text: 'go' };
    await session.submit(input);
    await session.untilTurnEnds();
    expect((await stack.holdfast(['down'])).code).toBe(0);
    expect((await stack.holdfast(['up'])).code).toBe(0);
    await session.submit(input);
    await session.prompt('next');
    const events = await session.untilTurnEnds(2);
    expectSoundLog(events);
    expect(events.filter((event) => event.type === 'text').map((event) => event.text)).toEqual([
      'before',
      'after',
    ]);
  });
});
