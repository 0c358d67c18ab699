import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionEvent } from '@holdfast/protocol';
import {
  command,
  driveSession,
  expectSoundLog,
  isRetryNote,
  script,
  startTestStack,
  toLine,
} from '@holdfast/testing';
import type { DrivenSession, TestStack } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// Every process of the stack is killed with -9 at three moments of a turn. A killed component may change the time, nothing else.

const roles = [
  'orchestrator',
  'llm-worker',
  'tool-worker:local',
  'mcp-gateway',
  'history-store',
  'session-api',
  'temporal',
  'postgres',
  'nats',
];
const moments = ['while the model streams', 'while a command runs', 'between the two'] as const;
type Moment = (typeof moments)[number];

let stack: TestStack;
let undisturbed: string[];
beforeAll(async () => {
  // A slow restart of the tool worker is no absent machine.
  stack = await startTestStack({ split: true, env: { HOLDFAST_MACHINE_WAIT_MS: '30000' } });
  const turn = await startTurn('undisturbed');
  turn.letCommandEnd();
  turn.letModelEnd();
  undisturbed = toComparable(await turn.session.untilTurnEnds());
});
afterAll(() => stack.close());

/** A command that tells that it runs and ends when it is told to; its runs can be counted. */
const heldCommand =
  'echo run >> effects; touch running; while [ ! -e proceed ]; do sleep 0.05; done; echo finished';

type HeldTurn = {
  session: DrivenSession;
  reach(moment: Moment): Promise<void>;
  letCommandEnd(): void;
  letModelEnd(): void;
};

async function startTurn(id: string): Promise<HeldTurn> {
  const gate = stack.model.gate(id);
  const held = { output: [{ text: 'the whole answer' }], chunk: { size: 4 }, midGate: id };
  const session = await driveSession(stack, script(command(heldCommand, { yield_time_ms: 30_000 }), held), {
    prompt: 'go',
  });
  const letCommandEnd = () => writeFileSync(join(session.cwd, 'proceed'), '');
  return {
    session,
    letCommandEnd,
    letModelEnd: () => gate.open(),
    reach: async (moment) => {
      await expect.poll(() => existsSync(join(session.cwd, 'running')), { timeout: 20_000 }).toBe(true);
      if (moment === 'while a command runs') return;
      letCommandEnd();
      if (moment === 'while the model streams') await gate.waiting();
      else await session.until((event) => event.type === 'tool_result');
    },
  };
}

function toComparable(events: readonly SessionEvent[]): string[] {
  return events.filter((event) => !isRetryNote(event)).map(toLine);
}

async function kill(role: string): Promise<void> {
  const pid = await stack.pidOf(role);
  process.kill(pid, 'SIGKILL');
  const isBack = async () => {
    const row = (await stack.processes()).find((each) => each.role === role);
    return row !== undefined && row.pid !== pid && row.health === 'ok';
  };
  await expect.poll(isBack, { timeout: 30_000, interval: 200 }).toBe(true);
}

describe.each(roles)('kill -9 of %s', (role) => {
  test.each(moments)('%s changes nothing but the time', async (moment) => {
    const turn = await startTurn(`${role} ${moment}`);
    await turn.reach(moment);
    await kill(role);
    turn.letCommandEnd();
    turn.letModelEnd();
    const events = await turn.session.untilTurnEnds();
    expectSoundLog(events);
    expect(toComparable(events)).toEqual(undisturbed);
    expect(readFileSync(join(turn.session.cwd, 'effects'), 'utf8')).toBe('run\n');
    expect(events.find((event) => event.type === 'tool_result')?.text).toContain('finished');
    expect(events.filter((event) => event.type === 'text').map((event) => event.text)).toEqual([
      'the whole answer',
    ]);
  });
});
