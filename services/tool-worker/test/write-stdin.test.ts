import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readProcess } from '../src/process-host/process-table.ts';
import { callTool, printed, toNumber } from './calls.ts';
import { openTestMachine, type TestMachine } from './machines.ts';
import { waitForEnd, waitForLine } from './process-host/hosts.ts';

const yieldTime = { yield_time_ms: 250 };
/** Where the test asks for what was printed meanwhile. */
const patience = { yield_time_ms: 1_000 };

/** A command that has gone to the background. */
async function start(bench: TestMachine, cmd: string, more: object = {}) {
  const { text } = await callTool(bench, 'exec_command', { cmd, ...yieldTime, ...more });
  return { number: toNumber(text), text };
}

const write = (bench: TestMachine, number: number, chars: string, more: object = {}) =>
  callTool(bench, 'write_stdin', { session_id: number, chars, ...more });

describe('a command that takes longer than its call', () => {
  test('goes on in the background, and the model is told its number in the known layout', async () => {
    const bench = openTestMachine();
    const { text, number } = await start(bench, 'echo begun; sleep 300', patience);
    expect(text).toMatch(
      /^Chunk ID: [0-9a-f]{6}\nWall time: [\d.]{6,} seconds\nProcess running with session ID \d+\nOriginal token count: 2\nOutput:\nbegun\n$/,
    );
    expect(number).toBeGreaterThanOrEqual(1_000);
    expect(number).toBeLessThanOrEqual(99_999);
  });

  test('is read on from where it was read, until its end, which takes the number away', async () => {
    const bench = openTestMachine();
    const gate = join(bench.workspace, 'gate');
    const cmd = `echo one; while [ ! -e ${gate} ]; do sleep 0.02; done; echo two; exit 3`;
    const { number, text } = await start(bench, cmd, patience);
    expect(printed(text)).toBe('one\n');
    const polling = write(bench, number, '');
    writeFileSync(gate, '');
    const { text: rest, output } = await polling;
    expect(rest).toMatch(/\nProcess exited with code 3\nOriginal token count: 1\nOutput:\ntwo\n$/);
    expect(output).toMatchObject({ status: 'failed', exitCode: 3 });
    await expect
      .poll(async () => (await write(bench, number, '')).text)
      .toBe(`write_stdin failed: Unknown process id ${number}`);
  });

  test('is interrupted by Ctrl-C also without a terminal, and takes nothing else', async () => {
    const bench = openTestMachine();
    const cmd = `trap 'echo caught; exit 5' INT; echo begun; while :; do sleep 0.02; done`;
    const { number } = await start(bench, cmd);
    expect((await write(bench, number, 'text\n')).text).toBe(
      'write_stdin failed: stdin is closed for this session; start the command again with tty: true to type into it',
    );
    const { text } = await write(bench, number, '\u0003', { yield_time_ms: 30_000 });
    expect([text.includes('Process exited with code 5'), printed(text)]).toEqual([true, 'caught\n']);
  });

  test('outlives the interrupt of a turn, with the call that waits for it', async () => {
    const bench = openTestMachine();
    const file = join(bench.workspace, 'pid');
    const { number } = await start(bench, `echo $$ > ${file}; exec sleep 300`);
    const pid = Number(await waitForLine(file));
    const stop = new AbortController();
    const polling = callTool(bench, 'write_stdin', { session_id: number }, stop.signal);
    stop.abort('cancelled');
    expect(await polling).toMatchObject({ status: 'aborted' });
    expect(readProcess(pid)?.pid).toBe(pid);
    await bench.machine.close({ limitMs: 2_000 });
    await waitForEnd(pid);
  });

  test('is killed at its time limit, and the model is told', async () => {
    const bench = openTestMachine();
    const { number } = await start(bench, 'echo begun; sleep 300', { timeout_ms: 600 });
    const { text, output } = await write(bench, number, '');
    expect(output).toMatchObject({ status: 'failed', exitCode: 124 });
    expect(printed(text)).toBe(
      'command ran into its time limit; it was killed with everything it had started\n',
    );
  });

  test('is cut and kept as a blob like any other, from where it was read', async () => {
    const bench = openTestMachine();
    const gate = join(bench.workspace, 'gate');
    const cmd = `echo first; while [ ! -e ${gate} ]; do sleep 0.02; done; seq 1 20000`;
    const { number } = await start(bench, cmd);
    writeFileSync(gate, '');
    const { output } = await write(bench, number, '', { max_output_tokens: 10 });
    const whole = `${Array.from({ length: 20_000 }, (_, index) => index + 1).join('\n')}\n`;
    expect(printed(output?.text)).toMatch(/^Warning: .*\nTotal output lines: 20000\n\n1\n2\n/);
    expect(Buffer.from(bench.store.blobs.get(output?.full?.digest ?? '') ?? []).toString()).toBe(whole);
  });

  test('is not known when the turn ended before the model could be told, and is ended then', async () => {
    const bench = openTestMachine();
    const file = join(bench.workspace, 'pid');
    const input = JSON.stringify({ cmd: `echo $$ > ${file}; exec sleep 300`, ...yieldTime });
    const request = bench.store.add({ callId: '7.1.0', tool: 'exec_command', input, cwd: bench.workspace });
    const running = bench.machine.calls.run(request, new AbortController().signal);
    const pid = Number(await waitForLine(file));
    bench.store.seal('7.1.0');
    expect(await running).toEqual({ kind: 'sealed' });
    await waitForEnd(pid);
  });
});

describe('a terminal', () => {
  const shell = { tty: true };

  test('takes what is typed, and answers', async () => {
    const bench = openTestMachine();
    const { number, text } = await start(bench, 'read -p "name? " name; echo "hello $name"; tty', {
      ...shell,
      ...patience,
    });
    expect(printed(text)).toBe('name? ');
    const answer = await write(bench, number, 'world\n', { yield_time_ms: 30_000 });
    expect(printed(answer.text)).toMatch(/^world\r\nhello world\r\n\/dev\/pts\/\d+\r\n$/);
    expect(answer.text).toContain('Process exited with code 0');
  });

  test('is one of 80 columns for stdin, stdout and stderr, in the forced environment', async () => {
    const bench = openTestMachine();
    const cmd = '[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size && echo $TERM; exit 4';
    const { text } = await callTool(bench, 'exec_command', { cmd, tty: true });
    expect(text).toContain('Process exited with code 4');
    expect(printed(text)).toBe('24 80\r\ndumb\r\n');
  });

  test('is interrupted by Ctrl-C through the terminal', async () => {
    const bench = openTestMachine();
    const { number } = await start(bench, 'echo begun; sleep 300; echo not reached', shell);
    const { text } = await write(bench, number, '\u0003', { yield_time_ms: 30_000 });
    expect(text).toContain('Process exited with code 130');
    expect(text).not.toContain('not reached');
  });

  test('stays with its own command: no other one inherits it', async () => {
    const bench = openTestMachine();
    await start(bench, 'exec sleep 300', shell);
    const cmd = 'ls -l /proc/self/fd | grep -c ptmx';
    expect(printed((await callTool(bench, 'exec_command', { cmd })).text)).toBe('0\n');
    expect(printed((await callTool(bench, 'exec_command', { cmd, tty: true })).text)).toBe('0\r\n');
  });
});

describe('an input', () => {
  /** What the tool is left with when the worker dies after the effect and before the commit. */
  test('whose commit failed is not typed again by the next dispatch, which reads the same', async () => {
    const bench = openTestMachine();
    const log = join(bench.workspace, 'log');
    const cmd = `while read line; do echo "$line" >> ${log}; echo "got $line"; done`;
    const { number } = await start(bench, cmd, { tty: true });
    const input = JSON.stringify({ session_id: number, chars: 'once\n' });
    const request = bench.store.add({ callId: '8.1.0', tool: 'write_stdin', input, cwd: bench.workspace });
    bench.store.refuseFinish = new Error('the store went away');
    const signal = new AbortController().signal;
    await expect(bench.machine.calls.run(request, signal)).rejects.toThrow('the store went away');
    expect(await bench.machine.calls.run(request, signal)).toMatchObject({ kind: 'finished', status: 'ok' });
    expect(printed(bench.store.outputOf('8.1.0')?.text)).toBe('once\r\ngot once\r\n');
    expect(readFileSync(log, 'utf8')).toBe('once\n');
  });

  test('that the turn cut off was typed, and the next call reads what came of it', async () => {
    const bench = openTestMachine();
    const done = join(bench.workspace, 'done');
    const { number } = await start(bench, `read x; echo "got $x"; echo x > ${done}; sleep 300`, {
      tty: true,
    });
    const input = JSON.stringify({ session_id: number, chars: 'a\n', yield_time_ms: 30_000 });
    const request = bench.store.add({ callId: '8.2.0', tool: 'write_stdin', input, cwd: bench.workspace });
    const stop = new AbortController();
    const running = bench.machine.calls.run(request, stop.signal);
    await waitForLine(done);
    bench.store.seal('8.2.0');
    stop.abort('cancelled');
    expect(await running).toEqual({ kind: 'sealed' });
    const { text } = await write(bench, number, '\u0003', { yield_time_ms: 30_000 });
    expect(printed(text)).toMatch(/^a\r\ngot a\r\n/);
  });

  test('needs an approval where commands do, a look does not', async () => {
    const bench = openTestMachine();
    const add = (callId: string, input: object) =>
      bench.store.add({
        callId,
        tool: 'write_stdin',
        input: JSON.stringify(input),
        cwd: bench.workspace,
        approvalPolicy: 'always',
      });
    const signal = new AbortController().signal;
    await bench.machine.calls.run(add('8.3.0', { session_id: 1234, chars: 'y\n' }), signal);
    await bench.machine.calls.run(add('8.3.1', { session_id: 1234 }), signal);
    expect(bench.store.questions).toEqual(['write_stdin to session 1234: "y\\n"']);
    expect(bench.store.outputOf('8.3.1')?.text).toBe('write_stdin failed: Unknown process id 1234');
  });

  test.each([
    ['{}', 'session_id: '],
    ['{"session_id": "a"}', 'session_id: must be a whole number'],
    ['{"session_id": 1234, "chars": 5}', 'chars: must be a string'],
    ['not json', 'Unexpected token'],
  ])('of the form %s is refused with the rule and an example', async (input, reason) => {
    const { text, status } = await callTool(openTestMachine(), 'write_stdin', input);
    expect(status).toBe('failed');
    expect(text).toContain(`failed to parse function arguments: ${reason}`);
    expect(text).toContain('A valid call: {"session_id":1234,"chars":"y\\n"}');
  });
});

test('a machine without background commands keeps nothing of them', async () => {
  const bench = openTestMachine();
  await callTool(bench, 'exec_command', { cmd: 'true' });
  await bench.machine.close({ limitMs: 1_000 });
  const log = readFileSync(join(bench.stateDir, 'processes', 'processes.jsonl'), 'utf8');
  expect([log.includes('"terminal"'), existsSync(join(bench.stateDir, 'process-host.log'))]).toEqual([
    false,
    true,
  ]);
});
