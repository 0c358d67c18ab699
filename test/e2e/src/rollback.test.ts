import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { answer, command, driveSession, expectSoundLog, script, startTestStack } from '@holdfast/testing';
import type { TestStack } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

/** What a power cut may do to the Temporal server: its database is an older one. Postgres keeps every commit. */
async function rollTemporalBack(meanwhile: () => Promise<void>): Promise<void> {
  const database = join(stack.stateDir, 'temporal');
  const kept = `${database}-kept`;
  expect((await stack.holdfast(['down'])).code).toBe(0);
  cpSync(database, kept, { recursive: true });
  expect((await stack.holdfast(['up'])).code).toBe(0);
  await meanwhile();
  expect((await stack.holdfast(['down'])).code).toBe(0);
  rmSync(database, { recursive: true });
  cpSync(kept, database, { recursive: true });
  expect((await stack.holdfast(['up'])).code).toBe(0);
}

describe('a Temporal server that comes back with an older database', () => {
  test('leads to no second effect and no lost turn', async () => {
    const replies = [1, 2, 3, 4].flatMap((turn) => [
      command(`echo ${turn} >> effects`),
      answer(`turn ${turn}`),
    ]);
    const session = await driveSession(stack, script(...replies));
    await session.prompt('first');
    await session.untilTurnEnds(1);
    await rollTemporalBack(async () => {
      await session.prompt('second');
      await session.prompt('third');
      await session.untilTurnEnds(3);
    });
    await session.prompt('fourth');
    const events = await session.untilTurnEnds(4);
    expectSoundLog(events);
    expect(readFileSync(join(session.cwd, 'effects'), 'utf8')).toBe('1\n2\n3\n4\n');
    expect(events.filter((event) => event.type === 'text').map((event) => event.text)).toEqual([
      'turn 1',
      'turn 2',
      'turn 3',
      'turn 4',
    ]);
  });

  test('goes on with a turn whose workflow it has never heard of', async () => {
    const holding = { ...answer('after the cut'), gate: 'rolled-back' };
    const started = { session: undefined as Awaited<ReturnType<typeof driveSession>> | undefined };
    await rollTemporalBack(async () => {
      const session = await driveSession(stack, script(command('echo once >> effects'), holding), {
        prompt: 'go',
      });
      started.session = session;
      await stack.model.gate('rolled-back').waiting();
    });
    stack.model.gate('rolled-back').open();
    const { session } = started;
    if (!session) throw new Error('the session was not started');
    const events = await session.untilTurnEnds();
    expectSoundLog(events);
    expect(events.at(-1)).toMatchObject({ status: 'completed' });
    expect(readFileSync(join(session.cwd, 'effects'), 'utf8')).toBe('once\n');
  });
});
