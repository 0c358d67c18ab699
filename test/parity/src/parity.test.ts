import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentSession } from '@holdfast/agent-loop';
import type { Script } from '@holdfast/model-script';
import { isTerminal, type SessionEvent } from '@holdfast/protocol';
import { answer, command, expectSoundLog, patch, script, toLine } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDurableEngine, openInProcessEngine, type EngineUnderTest } from './engines.ts';

let durable: EngineUnderTest;
let inProcess: EngineUnderTest;
beforeAll(async () => {
  [durable, inProcess] = await Promise.all([openDurableEngine(), openInProcessEngine()]);
});
afterAll(() => Promise.all([durable.close(), inProcess.close()]));

type Play = {
  script: Script;
  approvalPolicy?: 'always';
  /** What the client does besides sending one prompt. */
  drive?: (session: AgentSession, at: { engine: EngineUnderTest; cwd: string }) => Promise<void>;
  turns?: number;
};

async function follow(
  session: AgentSession,
  wanted: (event: SessionEvent) => boolean,
): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  const stop = new AbortController();
  for await (const event of session.events({ signal: stop.signal })) {
    events.push(event);
    if (wanted(event)) break;
  }
  stop.abort();
  return events;
}

async function run(engine: EngineUnderTest, play: Play): Promise<{ lines: string[]; events: unknown[] }> {
  const { session, cwd } = await engine.open(play.script, play.approvalPolicy ?? 'never');
  await session.submit({ inputId: 'parity-prompt', text: 'go' });
  await play.drive?.(session, { engine, cwd });
  let ended = 0;
  const events = await follow(session, (event) => isTerminal(event) && (ended += 1) === (play.turns ?? 1));
  expectSoundLog(events);
  return { lines: events.map(toLine), events: events.map((event) => toComparable(event, cwd)) };
}

/** The whole event without what differs from run to run: ids of the session and the response, times, places. */
function toComparable(event: SessionEvent, cwd: string): unknown {
  const { sessionId: _session, at: _at, ...rest } = event;
  const text = JSON.stringify(rest, (key, value: unknown) => {
    if (key === 'responseId' || key === 'durationMs' || key === 'contextTokens' || key === 'usage')
      return typeof value;
    return typeof value === 'string'
      ? value
          .replaceAll(cwd, '.')
          .replaceAll(/127\.0\.0\.1:\d+|parity-\d+/g, '…')
          .replaceAll(/Chunk ID: \w+|\d+(\.\d+)?( seconds|s\b)/g, '…')
      : value;
  });
  return JSON.parse(text) as unknown;
}

const call = (name: string, args: unknown) => ({
  output: [{ call: { name, arguments: args as Record<string, unknown> } }],
});
const plays: Record<string, Play> = {
  'an answer': { script: script(answer('hello')) },
  'a command, a patch and an answer': {
    script: script(command('echo out; exit 3'), patch('*** Add File: a.txt', '+one'), answer('done')),
  },
  'a call that does not exist, and one with wrong arguments': {
    script: script(call('no_such_tool', {}), call('exec_command', { cmd: 7 }), answer('sorry')),
  },
  'an MCP call with progress': { script: script(call('mcp__progress__count', {}), answer('two')) },
  'a failure that is retried': {
    script: script({ ...answer('through'), fail: { status: 500, times: 1 } }),
  },
  'a rate limit': {
    script: script({ ...answer('through'), fail: { status: 429, message: 'slow', retryAfterSeconds: 2.5 } }),
  },
  'a failure that ends the turn': {
    script: script({ ...answer(''), fail: { status: 401, times: 'always' } }),
  },
  'a script that runs out': { script: script(command('true')) },
  'a steer during a model call': {
    script: script({ ...command('true'), gate: 'parity-steer' }, answer('ok')),
    drive: async (session, { engine }) => {
      await engine.model.gate('parity-steer').waiting();
      await session.steer({ inputId: 'parity-steer', text: 'more' });
      engine.model.gate('parity-steer').open();
    },
  },
  'an approval that is declined': {
    script: script(command('touch never'), answer('ok')),
    approvalPolicy: 'always',
    drive: async (session) => {
      const question = (await follow(session, (event) => event.type === 'approval')).at(-1);
      if (question?.type !== 'approval') throw new Error('nobody was asked');
      await session.approve({ approvalId: question.approvalId, decision: 'decline' });
    },
  },
  'an approval that is accepted': {
    script: script(command('echo yes'), answer('ok')),
    approvalPolicy: 'always',
    drive: async (session) => {
      const question = (await follow(session, (event) => event.type === 'approval')).at(-1);
      if (question?.type !== 'approval') throw new Error('nobody was asked');
      await session.approve({ approvalId: question.approvalId, decision: 'accept' });
    },
  },
  'an interrupt during a command, and the next turn': {
    script: script(command('touch running; sleep 60'), answer('next')),
    turns: 2,
    drive: async (session, { cwd }) => {
      await expect.poll(() => existsSync(join(cwd, 'running')), { timeout: 20_000 }).toBe(true);
      await session.interrupt();
      await session.submit({ inputId: 'parity-next', text: 'and now' });
    },
  },
};

describe('both engines write the same log for', () => {
  test.each(Object.keys(plays))('%s', async (name) => {
    const play = plays[name];
    if (!play) throw new Error(`there is no play ${name}`);
    const [there, here] = await Promise.all([run(durable, play), run(inProcess, play)]);
    expect(there.lines).toEqual(here.lines);
    expect(there.events).toEqual(here.events);
  });

  test('the canonical trace of an MCP call with two progress notes', async () => {
    const play = { script: script(call('mcp__progress__count', {}), answer('two')) };
    expect((await run(durable, play)).lines).toEqual([
      'status starting',
      'step 1 started',
      'usage 1',
      'tool_call mcp__progress__count',
      'mcp_progress 1/2',
      'mcp_progress 2/2',
      'tool_result mcp__progress__count ok',
      'step 1 completed',
      'step 2 started',
      'text two',
      'usage 2',
      'step 2 completed',
      'status completed',
    ]);
  });
});
