import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answer, command, patch, script, startTestStack } from '@holdfast/testing';
import type { ProgramResult, RunningProgram, TestStack } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

const work = script(command('echo said'), patch('*** Add File: made.txt', '+made'), answer('All done.'));
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const toLines = (text: string): string[] => text.split('\n').filter((line) => line !== '');
const toJsonLines = (text: string) => toLines(text).map((line) => JSON.parse(line) as never);
/** The id that the first line for the person names. */
const toSessionId = (stderr: string): string => /^session (\S+)$/m.exec(stderr)?.[1] ?? '';

type JsonLine = { type: string; thread_id?: string; item?: object; usage?: object };

async function sessionIdOf(program: RunningProgram): Promise<string> {
  return toSessionId(await program.waitForLine('session '));
}

async function answeredSession(id: string): Promise<string> {
  const env = stack.play(id, script(answer('first answer'), answer('second answer')));
  return toSessionId(
    (await stack.holdfast(['exec', `prompt of ${id}`], { env, cwd: stack.folder() })).stderr,
  );
}

describe('exec', () => {
  test('gives the answer on stdout, and on stderr first the session and how to come back to it', async () => {
    const cwd = stack.folder();
    const ended = await stack.holdfast(['exec', 'work'], { env: stack.play('human', work), cwd });
    expect(ended).toMatchObject({ code: 0, stdout: 'All done.\n' });
    const sessionId = toSessionId(ended.stderr);
    expect(sessionId).toMatch(uuid);
    const lines = toLines(ended.stderr);
    expect(lines.slice(0, 2)).toEqual([
      `session ${sessionId}`,
      `attach again with \`holdfast attach ${sessionId}\``,
    ]);
    expect(lines.slice(2).map((line) => line.replace(/\d+\.\d s/, 'N s'))).toEqual([
      '▸ echo said',
      '✔ echo said · exit 0 · N s',
      '▸ patch made.txt',
      `✔ patch A ${cwd}/made.txt · done · N s`,
      expect.stringMatching(/^tokens: \d+ in \(\d+ cached\), \d+ out · N s$/),
    ]);
    expect(readFileSync(join(cwd, 'made.txt'), 'utf8')).toBe('made\n');
  });

  test('with --json prints the lines that Codex prints, and nothing else on stdout', async () => {
    const cwd = stack.folder();
    const env = stack.play('json', work);
    const ended = await stack.holdfast(['exec', '--json', 'work'], { env, cwd });
    const lines: JsonLine[] = toJsonLines(ended.stdout);
    const shell = { id: 'item_0', type: 'command_execution', command: 'echo said' };
    const tokens = expect.any(Number) as number;
    expect(lines).toEqual([
      { type: 'thread.started', thread_id: toSessionId(ended.stderr) },
      { type: 'turn.started' },
      {
        type: 'item.started',
        item: { ...shell, aggregated_output: '', exit_code: null, status: 'in_progress' },
      },
      {
        type: 'item.completed',
        item: { ...shell, aggregated_output: 'said\n', exit_code: 0, status: 'completed' },
      },
      {
        type: 'item.completed',
        item: {
          id: 'item_1',
          type: 'file_change',
          changes: [{ path: join(cwd, 'made.txt'), kind: 'add' }],
          status: 'completed',
        },
      },
      { type: 'item.completed', item: { id: 'item_2', type: 'agent_message', text: 'All done.' } },
      {
        type: 'turn.completed',
        usage: {
          input_tokens: tokens,
          cached_input_tokens: tokens,
          cache_write_input_tokens: tokens,
          output_tokens: tokens,
          reasoning_output_tokens: tokens,
        },
      },
    ]);
    expect(ended.code).toBe(0);
    expect(toLines(ended.stderr)).toHaveLength(2);
  });

  test('takes the prompt from stdin, or stdin as a block after the prompt', async () => {
    const env = stack.play('stdin', script(answer('read')));
    const cwd = stack.folder();
    const ways = [
      { args: ['exec'], asked: 'from a pipe\n' },
      { args: ['exec', '-'], asked: 'from a pipe\n' },
      { args: ['exec', 'look at this'], asked: 'look at this\n\n<stdin>\nfrom a pipe\n</stdin>' },
    ];
    for (const { args, asked } of ways) {
      const ended = await stack.holdfast(args, { env, cwd, input: 'from a pipe\n' });
      expect(ended).toMatchObject({ code: 0, stdout: 'read\n' });
      const [first] = await stack.client.open(toSessionId(ended.stderr)).readEvents({ after: 0, limit: 1 });
      expect(first).toMatchObject({ type: 'status', status: 'starting', input: { text: asked } });
    }
  });

  test('with --script plays a file and asks nobody', async () => {
    const cwd = stack.folder();
    writeFileSync(join(cwd, 'play.json'), JSON.stringify(work));
    const asked = stack.model.requests.length;
    const ended = await stack.holdfast(['exec', '--script', 'play.json', 'work'], { cwd });
    expect(ended).toMatchObject({ code: 0, stdout: 'All done.\n' });
    expect(readFileSync(join(cwd, 'made.txt'), 'utf8')).toBe('made\n');
    expect(stack.model.requests).toHaveLength(asked);
  });

  test('with --local gives the same lines without a stack, and leaves nothing but the work', async () => {
    const [state, temporary] = [join(stack.folder(), 'state'), stack.folder()];
    const replies = (env: Record<string, string>, args: string[], cwd: string): Promise<ProgramResult> =>
      stack.holdfast(['exec', '--json', ...args, 'work'], { env, cwd });
    const alone = { HOLDFAST_STATE_DIR: state, TMPDIR: temporary };
    const folders = [stack.folder(), stack.folder()] as const;
    const local = await replies({ ...stack.play('local', work), ...alone }, ['--local'], folders[0]);
    const durable = await replies(stack.play('durable', work), [], folders[1]);
    const toComparable = ({ stdout }: ProgramResult, cwd: string): JsonLine[] =>
      (toJsonLines(stdout.replaceAll(cwd, 'CWD')) as JsonLine[]).map((line) =>
        line.type === 'thread.started' ? { type: line.type } : line,
      );
    expect([local.code, durable.code]).toEqual([0, 0]);
    expect(toComparable(local, folders[0])).toEqual(toComparable(durable, folders[1]));
    expect(readFileSync(join(folders[0], 'made.txt'), 'utf8')).toBe('made\n');
    expect(existsSync(state)).toBe(false);
    const files = readdirSync(temporary, { recursive: true, withFileTypes: true });
    expect(files.filter((entry) => !entry.isDirectory())).toEqual([]);
  });

  test('ends with 130 when somebody else interrupts the turn', async () => {
    const env = stack.play('interrupted', script(command('sleep 600'), answer('never')));
    const running = stack.start(['exec', 'wait'], { env, cwd: stack.folder() });
    const sessionId = await sessionIdOf(running);
    await running.waitForLine('▸ sleep 600');
    const interrupt = await stack.holdfast(['interrupt', sessionId]);
    expect(interrupt).toEqual({
      code: 0,
      signal: null,
      stdout: '',
      stderr: `Interrupted the turn of session ${sessionId}.\n`,
    });
    const ended = await running.result;
    expect(ended).toMatchObject({ code: 130, stdout: '' });
    expect(toLines(ended.stderr).at(-1)).toBe('■ interrupted');
    const again = await stack.holdfast(['interrupt', sessionId]);
    expect(again).toMatchObject({
      code: 2,
      stderr: 'holdfast: No turn is running in this session; send a prompt with `holdfast resume`.\n',
    });
  });

  test('leaves the turn running at the first Ctrl-C, and attach shows how it ends', async () => {
    const reply = { ...answer('seen by another'), gate: 'detached' };
    const env = stack.play('detach', script(command('echo before'), reply));
    const running = stack.start(['exec', 'go on without me'], { env, cwd: stack.folder() });
    const sessionId = await sessionIdOf(running);
    await running.waitForLine('✔ echo before');
    await stack.model.gate('detached').waiting();
    running.kill('SIGINT');
    const left = await running.result;
    expect(left).toMatchObject({ code: 0, signal: null, stdout: '' });
    expect(left.stderr).toContain(`the turn goes on; see it again with \`holdfast attach ${sessionId}\``);
    expect(await stack.client.open(sessionId).read()).toMatchObject({ state: 'running' });
    const attached = stack.start(['attach', sessionId]);
    await attached.waitForLine('✔ echo before');
    stack.model.gate('detached').open();
    const ended = await attached.result;
    expect(ended).toMatchObject({ code: 0, stdout: 'seen by another\n' });
    expect(toLines(ended.stderr)[0]).toBe('turn 1: go on without me');
  });

  test('interrupts the turn at the second Ctrl-C', async () => {
    const env = stack.play('twice', script(command('sleep 601'), answer('never')));
    const running = stack.start(['exec', 'wait'], { env, cwd: stack.folder() });
    const sessionId = await sessionIdOf(running);
    await running.waitForLine('▸ sleep 601');
    running.kill('SIGINT');
    await running.waitForLine('Detaching');
    running.kill('SIGINT');
    const ended = await running.result;
    expect(ended).toMatchObject({ code: 130, signal: null, stdout: '' });
    expect(await stack.client.open(sessionId).listTurns()).toMatchObject([{ status: 'cancelled' }]);
  });
});

describe('resume', () => {
  test('asks another prompt in the session and prints only its answer', async () => {
    const sessionId = await answeredSession('resumed');
    const ended = await stack.holdfast(['resume', sessionId, 'and then?']);
    expect(ended).toMatchObject({ code: 0, stdout: 'second answer\n' });
    const json = await stack.holdfast(['attach', '--json', sessionId]);
    const lines: JsonLine[] = toJsonLines(json.stdout);
    expect(lines.map(({ type }) => type)).toEqual([
      'thread.started',
      'turn.started',
      'item.completed',
      'turn.completed',
    ]);
    expect(lines[0]?.thread_id).toBe(sessionId);
    const turns = await stack.client.open(sessionId).listTurns();
    expect(turns.map(({ ordinal, status }) => ({ ordinal, status }))).toEqual([
      { ordinal: 1, status: 'completed' },
      { ordinal: 2, status: 'completed' },
    ]);
  });
});

describe('the lists', () => {
  test('of sessions --json names the newest first, without its key', async () => {
    const older = await answeredSession('listed-1');
    const newer = await answeredSession('listed-2');
    const { code, stdout } = await stack.holdfast(['sessions', '--json']);
    expect(code).toBe(0);
    const [{ sessions }] = toJsonLines(stdout) as unknown as [{ sessions: { sessionId: string }[] }];
    expect(sessions.slice(0, 2).map(({ sessionId }) => sessionId)).toEqual([newer, older]);
    expect(sessions[0]).toMatchObject({ state: 'idle', title: 'prompt of listed-2', turns: 1 });
    expect(stdout).not.toContain(stack.env['OPENAI_API_KEY']);
  });

  test('of machines --json names this machine and what it offers', async () => {
    const { code, stdout } = await stack.holdfast(['machines', '--json']);
    expect(code).toBe(0);
    const [{ machines }] = toJsonLines(stdout) as unknown as [{ machines: { name: string }[] }];
    expect(machines.find(({ name }) => name === 'local')).toMatchObject({
      kind: 'machine',
      online: true,
      tools: expect.arrayContaining(['apply_patch', 'exec_command', 'read_file', 'write_stdin']) as string[],
    });
  });

  test('of events --json has one event a line in the order of seq', async () => {
    const sessionId = await answeredSession('events');
    const { code, stdout } = await stack.holdfast(['events', sessionId, '--json']);
    expect(code).toBe(0);
    const events = toJsonLines(stdout) as { seq: number; type: string; sessionId: string }[];
    expect(events.map(({ seq, type }) => `${seq} ${type}`)).toEqual([
      '1 status',
      '2 step',
      '3 text',
      '4 usage',
      '5 step',
      '6 status',
    ]);
    expect(new Set(events.map((event) => event.sessionId))).toEqual(new Set([sessionId]));
    expect(events).toEqual(await stack.client.open(sessionId).readEvents({ after: 0, limit: 100 }));
  });

  test('of status --json has a row of the same shape for each of the nine roles', async () => {
    const { code, stdout } = await stack.holdfast(['status', '--json']);
    expect(code).toBe(0);
    const [status] = toJsonLines(stdout) as unknown as [{ state: string; processes: { role: string }[] }];
    const roles = ['temporal', 'postgres', 'nats', 'history-store', 'session-api', 'orchestrator'];
    const rows = [...roles, 'llm-worker', 'mcp-gateway', 'tool-worker:local'].map((role) => ({
      role,
      pid: expect.any(Number) as number,
      address: expect.stringContaining('127.0.0.1:') as string,
      health: 'ok',
      rssMb: expect.any(Number) as number,
      restarts: 0,
    }));
    expect(status).toEqual({ state: 'up', processes: rows });
  });
});
