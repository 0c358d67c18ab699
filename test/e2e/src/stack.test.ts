import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { answer, command, expectSoundLog, script, startTestStack } from '@holdfast/testing';
import type { ProcessRow, RunningProgram, TestStack } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listStateProcesses } from './state-processes.ts';

const toPids = (rows: readonly ProcessRow[]): Record<string, number> =>
  Object.fromEntries(rows.map(({ role, pid }) => [role, pid]));
const supervisorOf = ({ stateDir }: TestStack): number => {
  const file: { pid: number } = JSON.parse(readFileSync(join(stateDir, 'stack.json'), 'utf8')) as never;
  return file.pid;
};

/** A session with one answered turn; the script has answers for more. */
async function talk(stack: TestStack, id: string): Promise<string> {
  const env = stack.play(id, script(answer('one'), answer('two'), answer('three')));
  const ended = await stack.holdfast(['exec', 'first'], { env, cwd: stack.folder() });
  expect(ended).toMatchObject({ code: 0, stdout: 'one\n' });
  return /^session (\S+)$/m.exec(ended.stderr)?.[1] ?? '';
}

async function expectStillThere(stack: TestStack, sessionId: string, wanted: string): Promise<void> {
  const { stdout } = await stack.holdfast(['sessions', '--json']);
  const { sessions } = JSON.parse(stdout) as { sessions: { sessionId: string }[] };
  expect(sessions.map((session) => session.sessionId)).toContain(sessionId);
  const ended = await stack.holdfast(['resume', sessionId, 'go on']);
  expect(ended).toMatchObject({ code: 0, stdout: `${wanted}\n` });
}

/** A turn whose command runs; `marker` is part of the command line of its one process. */
async function runSleep(stack: TestStack, seconds: string) {
  const reply = command(`sleep ${seconds}; echo late`, { yield_time_ms: 30_000 });
  const env = stack.play(seconds, script(reply, answer('I was told')));
  const running = stack.start(['exec', 'wait'], { env, cwd: stack.folder() });
  await running.waitForLine(`▸ sleep ${seconds}`);
  const marker = `sleep\0${seconds}`;
  await expect.poll(() => listStateProcesses(marker).length, { timeout: 10_000 }).toBe(1);
  return { running, marker };
}

/** How the one call of the turn ended, once the turn is answered. */
async function resultOf(stack: TestStack, running: RunningProgram) {
  const ended = await running.result;
  expect(ended).toMatchObject({ code: 0, stdout: 'I was told\n' });
  const sessionId = /^session (\S+)$/m.exec(ended.stderr)?.[1] ?? '';
  const events = await stack.client.open(sessionId).readEvents({ after: 0, limit: 100 });
  expectSoundLog(events);
  const results = events.filter((event) => event.type === 'tool_result');
  expect(results).toHaveLength(1);
  return { status: results[0]?.status, text: results[0]?.text ?? '' };
}

describe('the stack', () => {
  let stack: TestStack;
  beforeAll(async () => {
    stack = await startTestStack();
  });
  afterAll(() => stack.close());

  test('that is up is found by up, not started again', async () => {
    const before = [supervisorOf(stack), toPids(await stack.processes())];
    const again = await stack.holdfast(['up', '--json']);
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(again.stdout)).toMatchObject({ started: false });
    const human = await stack.holdfast(['up']);
    expect(human).toEqual({
      code: 0,
      signal: null,
      stdout: `${stack.addresses()['session-api']}\n`,
      stderr: 'The stack was up already.\n',
    });
    expect([supervisorOf(stack), toPids(await stack.processes())]).toEqual(before);
  });

  test('leaves no process after down, and what it stored is there after up', async () => {
    const sessionId = await talk(stack, 'down-and-up');
    const pids = [supervisorOf(stack), ...Object.values(toPids(await stack.processes()))];
    expect(listStateProcesses(stack.stateDir)).toEqual(expect.arrayContaining(pids));
    const down = await stack.holdfast(['down']);
    expect(down).toMatchObject({ code: 0, stdout: '', stderr: 'The stack is down; its data stays.\n' });
    expect(listStateProcesses(stack.stateDir)).toEqual([]);
    const status = await stack.holdfast(['status', '--json']);
    expect(status).toMatchObject({ code: 0, stdout: '{"state":"down","processes":[]}\n' });
    expect(await stack.holdfast(['down'])).toMatchObject({ code: 0, stderr: 'The stack was not up.\n' });
    expect((await stack.holdfast(['up'])).code).toBe(0);
    await expectStillThere(stack, sessionId, 'two');
  });

  test('that goes down takes the command of a running turn with it, and tells the truth about it after up', async () => {
    const { running, marker } = await runSleep(stack, `602.${process.pid}`);
    expect((await stack.holdfast(['down'])).code).toBe(0);
    expect(listStateProcesses(marker)).toEqual([]);
    // The client stays, unless it has heard the end of the turn before the services were gone.
    expect([running.pid]).toEqual(expect.arrayContaining(listStateProcesses(stack.stateDir)));
    expect((await stack.holdfast(['up'])).code).toBe(0);
    const { status, text } = await resultOf(stack, running);
    expect(status).toBe('failed');
    expect(text).toContain('because the tool worker of this machine was stopped');
    expect(text).not.toContain('late');
  });

  test('whose supervisor was killed leaves no orphan, and up finds everything again', async () => {
    const sessionId = await talk(stack, 'killed');
    const { running, marker } = await runSleep(stack, `603.${process.pid}`);
    const killed = supervisorOf(stack);
    process.kill(killed, 'SIGKILL');
    await expect.poll(() => listStateProcesses(stack.stateDir), { timeout: 20_000 }).toEqual([running.pid]);
    await expect.poll(() => listStateProcesses(marker), { timeout: 20_000 }).toEqual([]);
    const status = await stack.holdfast(['status', '--json']);
    expect(status).toMatchObject({ code: 0, stdout: '{"state":"down","processes":[]}\n' });
    const up = await stack.holdfast(['up', '--json']);
    expect(up.code).toBe(0);
    expect(JSON.parse(up.stdout)).toMatchObject({ started: true });
    expect(supervisorOf(stack)).not.toBe(killed);
    const result = await resultOf(stack, running);
    // The worker may have had the time to note what it did, or not.
    expect(['failed', 'unknown']).toContain(result.status);
    expect(result.text).not.toContain('late');
    await expectStillThere(stack, sessionId, 'two');
  });

  test('is one, when two people start it at the same moment', async () => {
    expect((await stack.holdfast(['down'])).code).toBe(0);
    const both = await Promise.all([stack.holdfast(['up', '--json']), stack.holdfast(['up', '--json'])]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    type Up = { started: boolean; processes: ProcessRow[] };
    const [one, other] = both.map(({ stdout }) => JSON.parse(stdout) as Up);
    expect([one?.started, other?.started].filter(Boolean)).toHaveLength(1);
    expect(toPids(one?.processes ?? [])).toEqual(toPids(other?.processes ?? []));
    expect(toPids(await stack.processes())).toEqual(toPids(one?.processes ?? []));
    const sessionId = await talk(stack, 'raced');
    await expectStillThere(stack, sessionId, 'two');
  });

  test('is started by the command that needs it', async () => {
    expect((await stack.holdfast(['down'])).code).toBe(0);
    const sessionId = await talk(stack, 'by-need');
    expect((await stack.processes()).every(({ health }) => health === 'ok')).toBe(true);
    await expectStillThere(stack, sessionId, 'two');
  });

  test('runs beside one of another state folder, and each has its own processes, places and sessions', async () => {
    const other = await startTestStack({ split: true });
    try {
      const rows = [...(await stack.processes()), ...(await other.processes())];
      expect(rows.map(({ health }) => health)).toEqual(rows.map(() => 'ok'));
      const places = rows.map(({ address }) => address);
      expect(new Set(places).size).toBe(places.length);
      const mine = listStateProcesses(stack.stateDir);
      expect(listStateProcesses(other.stateDir).filter((pid) => mine.includes(pid))).toEqual([]);
      const [here, there] = [await talk(stack, 'here'), await talk(other, 'there')];
      expect(await stack.holdfast(['attach', there])).toMatchObject({ code: 2 });
      expect(await other.holdfast(['attach', here])).toMatchObject({ code: 2 });
      expect((await other.holdfast(['down'])).code).toBe(0);
      expect(listStateProcesses(other.stateDir)).toEqual([]);
      await expectStillThere(stack, here, 'two');
    } finally {
      await other.close();
    }
  });
});

describe('a split stack', () => {
  test('gives each of its nine roles a process of its own, and down ends them all', async () => {
    const stack = await startTestStack({ split: true });
    try {
      const rows = await stack.processes();
      expect(rows.map(({ role }) => role).toSorted()).toEqual([
        'history-store',
        'llm-worker',
        'mcp-gateway',
        'nats',
        'orchestrator',
        'postgres',
        'session-api',
        'temporal',
        'tool-worker:local',
      ]);
      expect(new Set(rows.map(({ pid }) => pid)).size).toBe(9);
      await talk(stack, 'split');
      expect((await stack.holdfast(['down'])).code).toBe(0);
      expect(listStateProcesses(stack.stateDir)).toEqual([]);
    } finally {
      await stack.close();
    }
  });
});
