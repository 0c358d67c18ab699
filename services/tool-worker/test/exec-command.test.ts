import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readProcess } from '../src/process-host/process-table.ts';
import { never, openTestMachine, type TestMachine } from './machines.ts';
import { waitForLine } from './process-host/hosts.ts';
import { testSessionId, testTurnId } from './strict-call-log.ts';

let calls = 0;

async function exec({ machine, store, workspace }: TestMachine, input: object | string) {
  calls += 1;
  const callId = `1.${calls}.0`;
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  const request = store.add({ callId, tool: 'exec_command', input: text, cwd: workspace });
  const result = await machine.calls.run(request, never);
  const output = store.outputOf(callId);
  expect(result).toEqual({ kind: 'finished', status: output?.status, outputTokens: output?.tokens });
  return output;
}

/** Everything after the line `Output:`. */
const printed = (text = '') => text.slice(text.indexOf('\nOutput:\n') + '\nOutput:\n'.length);

describe('exec_command', () => {
  test('tells the model the outcome in the known layout', async () => {
    const bench = openTestMachine();
    const output = await exec(bench, { cmd: 'echo hello; exit 3' });
    expect(output).toEqual({
      status: 'failed',
      text: expect.stringMatching(
        /^Chunk ID: [0-9a-f]{6}\nWall time: \d+\.\d{4} seconds\nProcess exited with code 3\nOriginal token count: 2\nOutput:\nhello\n$/,
      ),
      tokens: Math.ceil((output?.text.length ?? 0) / 4),
      durationMs: expect.any(Number),
      exitCode: 3,
    });
    expect((await exec(bench, { cmd: 'true' }))?.status).toBe('ok');
    expect((await exec(bench, { cmd: 'kill -9 $$' }))?.exitCode).toBe(137);
  });

  test('runs where it is told to, from the folder of the session', async () => {
    const bench = openTestMachine();
    mkdirSync(join(bench.workspace, 'sub'));
    expect(printed((await exec(bench, { cmd: 'pwd' }))?.text)).toBe(`${bench.workspace}\n`);
    expect(printed((await exec(bench, { cmd: 'pwd', workdir: 'sub' }))?.text)).toBe(
      `${bench.workspace}/sub\n`,
    );
    expect(printed((await exec(bench, { cmd: 'pwd', workdir: '/' }))?.text)).toBe('/\n');
    expect(await exec(bench, { cmd: 'pwd', workdir: 'gone' })).toMatchObject({
      status: 'failed',
      text: `exec_command failed for \`pwd\`: there is no folder ${bench.workspace}/gone on this machine; name an existing one as workdir`,
    });
  });

  test('gives commands the login environment without the secrets of Holdfast', async () => {
    const home = openTestMachine().workspace;
    writeFileSync(
      join(home, '.bash_profile'),
      'echo noise\nexport FROM_PROFILE=yes\nexport OPENAI_API_KEY=profile\n',
    );
    const env = {
      PATH: process.env['PATH'],
      HOME: home,
      OWN: 'own',
      HOLDFAST_INTERNAL_TOKEN: 'secret',
      OPENAI_API_KEY: 'secret',
      DATABASE_URL: 'secret',
      NATS_URL: 'secret',
      TEMPORAL_ADDRESS: 'secret',
      OPENAI_BASE_URL: 'kept',
    };
    const bench = openTestMachine({ env });
    const cmd = 'env | grep -v -e ^PATH= -e ^PWD= -e ^SHLVL= -e ^_= -e ^OLDPWD= | sort';
    const expected = [
      'COLORTERM=',
      'FROM_PROFILE=yes',
      'GH_PAGER=cat',
      'GIT_PAGER=cat',
      'HOLDFAST_CI=1',
      `HOME=${home}`,
      'LANG=C.UTF-8',
      'LC_ALL=C.UTF-8',
      'LC_CTYPE=C.UTF-8',
      'NO_COLOR=1',
      'OPENAI_BASE_URL=kept',
      'OWN=own',
      'PAGER=cat',
      'TERM=dumb',
    ];
    const login = printed((await exec(bench, { cmd }))?.text).replace(/HOLDFAST_PROCESS=.*\n/, '');
    expect(login.trim().split('\n').toSorted()).toEqual(expected);
    const plain = printed((await exec(bench, { cmd, login: false }))?.text).replace(
      /HOLDFAST_PROCESS=.*\n/,
      '',
    );
    expect(plain.trim().split('\n').toSorted()).toEqual(
      expected.filter((line) => line !== 'FROM_PROFILE=yes'),
    );
  });

  test('runs another shell when asked to', async () => {
    const bench = openTestMachine();
    expect(printed((await exec(bench, { cmd: 'echo $0', shell: '/bin/sh' }))?.text)).toBe('/bin/sh\n');
    expect((await exec(bench, { cmd: 'true', shell: '/bin/no-shell' }))?.text).toBe(
      'exec_command failed for `true`: spawn /bin/no-shell ENOENT',
    );
  });

  test.each([
    ['{"cmd": 7}', 'cmd: Invalid input: expected string, received number'],
    ['{}', 'cmd: Invalid input: expected string, received undefined'],
    ['{"cmd": ""}', 'cmd: must not be empty'],
    ['{"cmd": "ls", "timeout_ms": 90000000}', 'timeout_ms: must be at most 86400000'],
    ['[]', 'an object with the member cmd is needed'],
    ['{"cmd": "ls"', "Expected ',' or '}' after property value in JSON at position 12 (line 1 column 13)"],
  ])('refuses %s with the reason and an example', async (input, reason) => {
    const output = await exec(openTestMachine(), input);
    expect([output?.status, output?.text]).toEqual([
      'failed',
      `failed to parse function arguments: ${reason}. A valid call: {"cmd":"ls -la","workdir":"src"}`,
    ]);
  });

  test('takes members that are null or unknown as left out', async () => {
    const output = await exec(openTestMachine(), {
      cmd: 'echo x',
      workdir: null,
      tty: false,
      yield_time_ms: 1000,
    });
    expect(printed(output?.text)).toBe('x\n');
  });

  test('keeps the beginning and the end of a long output, and all of it as a blob', async () => {
    const bench = openTestMachine();
    const output = await exec(bench, { cmd: 'seq 1 200000', max_output_tokens: 20 });
    const whole = `${Array.from({ length: 200_000 }, (_, index) => index + 1).join('\n')}\n`;
    expect(printed(output?.text)).toBe(
      [
        'Warning: truncated output (original token count: 322224)',
        'Total output lines: 200000',
        '',
        `${whole.slice(0, 40)}…322204 tokens truncated…${whole.slice(-40)}`,
      ].join('\n'),
    );
    expect(output?.full).toEqual({
      digest: expect.any(String),
      size: whole.length,
      mediaType: 'text/plain; charset=utf-8',
    });
    expect(Buffer.from(bench.store.blobs.get(output?.full?.digest ?? '') ?? []).toString()).toBe(whole);
  });

  test('kills what runs too long and says so', async () => {
    const output = await exec(openTestMachine(), { cmd: 'echo begun; sleep 300', timeout_ms: 100 });
    expect(output).toMatchObject({ status: 'failed', exitCode: 124 });
    expect(printed(output?.text)).toBe(
      'command timed out after 100 milliseconds; it was killed with everything it had started\nbegun\n',
    );
  });

  test('streams its output as deltas of its claim', async () => {
    const deltas: unknown[] = [];
    const bench = openTestMachine({ publishDelta: (delta) => deltas.push(delta) });
    const request = bench.store.add({
      callId: '7.1.0',
      tool: 'exec_command',
      input: '{"cmd":"echo live"}',
      cwd: bench.workspace,
    });
    await bench.machine.calls.run(request, never);
    expect(deltas).toEqual([
      {
        kind: 'output',
        sessionId: testSessionId,
        turnId: testTurnId,
        callId: '7.1.0',
        attempt: 1,
        text: 'live\n',
      },
    ]);
  });

  test('keeps nothing on the machine once the store has the outcome', async () => {
    const bench = openTestMachine();
    await exec(bench, { cmd: 'echo x' });
    await bench.machine.close({ limitMs: 1_000 });
    const again = openTestMachine({ stateDir: bench.stateDir, store: bench.store });
    expect(again.machine.unansweredDispatches()).toEqual([]);
    expect(existsSync(join(bench.stateDir, 'processes'))).toBe(true);
    expect(readFileSync(join(bench.stateDir, 'process-host.log'), 'utf8')).toBe('');
  });
});

describe('an interrupt', () => {
  const script = (file: string) => ({ cmd: `setsid sleep 300 & echo $! > ${file}; wait` });

  test('kills the command with everything it started and writes nothing into the ended turn', async () => {
    const bench = openTestMachine();
    const file = join(bench.workspace, 'pid');
    const input = JSON.stringify(script(file));
    const request = bench.store.add({ callId: '8.1.0', tool: 'exec_command', input, cwd: bench.workspace });
    const running = bench.machine.calls.run(request, never);
    const pid = Number(await waitForLine(file));
    bench.store.seal('8.1.0');
    bench.machine.calls.stopTurn({ sessionId: testSessionId, turnId: testTurnId });
    expect(await running).toEqual({ kind: 'sealed' });
    expect(readProcess(pid)).toBeUndefined();
    expect([bench.store.outputOf('8.1.0'), bench.store.claims]).toEqual([undefined, ['run', 'sealed']]);
  });

  test('by the dispatch is recorded when the store knows of no end of the turn', async () => {
    const bench = openTestMachine();
    const file = join(bench.workspace, 'pid');
    const input = JSON.stringify(script(file));
    const request = bench.store.add({ callId: '8.2.0', tool: 'exec_command', input, cwd: bench.workspace });
    const interrupt = new AbortController();
    const running = bench.machine.calls.run(request, interrupt.signal);
    const pid = Number(await waitForLine(file));
    interrupt.abort('cancelled');
    expect(await running).toMatchObject({ kind: 'finished', status: 'aborted' });
    expect(readProcess(pid)).toBeUndefined();
    expect(bench.store.outputOf('8.2.0')?.text).toMatch(/^Wall time: \d+\.\d seconds\naborted by user$/);
  });

  test('that came before the claim was answered stops the call before it starts', async () => {
    const bench = openTestMachine();
    bench.machine.calls.stopTurn({ sessionId: testSessionId, turnId: testTurnId });
    const file = join(bench.workspace, 'ran');
    const input = JSON.stringify({ cmd: `touch ${file}` });
    const request = bench.store.add({ callId: '8.3.0', tool: 'exec_command', input, cwd: bench.workspace });
    expect(await bench.machine.calls.run(request, never)).toMatchObject({
      kind: 'finished',
      status: 'aborted',
    });
    expect(existsSync(file)).toBe(false);
  });
});

test('a stop of the worker kills its commands and reports them truly', async () => {
  const bench = openTestMachine();
  const file = join(bench.workspace, 'pid');
  const input = JSON.stringify({ cmd: `echo begun; echo $$ > ${file}; exec sleep 300` });
  const request = bench.store.add({ callId: '9.1.0', tool: 'exec_command', input, cwd: bench.workspace });
  const running = bench.machine.calls.run(request, never);
  const pid = Number(await waitForLine(file));
  await bench.machine.close({ limitMs: 5_000 });
  expect(await running).toMatchObject({ kind: 'finished', status: 'failed' });
  expect(readProcess(pid)).toBeUndefined();
  expect(printed(bench.store.outputOf('9.1.0')?.text)).toBe(
    'command killed with everything it had started, because the tool worker of this machine was stopped\nbegun\n',
  );
  await expect(bench.machine.calls.run(request, never)).rejects.toThrow('this tool worker is stopping');
});
