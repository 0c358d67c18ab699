import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createWorkspaceGuard } from '../../src/workspace/workspace-guard.ts';
import { createFolder } from '../folders.ts';
import { never, openTestMachine, silent } from '../machines.ts';
import { waitForLine } from '../process-host/hosts.ts';
import { StrictCallLog, testSessionId } from '../strict-call-log.ts';
import { readTree } from './trees.ts';

const undo = { sessionId: testSessionId, force: false };
const patchOf = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n');

/** Runs calls of one session on a machine, one after the other. */
function openSession(given: Parameters<typeof openTestMachine>[0] = {}) {
  const opened = openTestMachine(given);
  const { machine, store, workspace } = opened;
  const run = async (call: { callId: string; tool: string; input: string; form?: 'freeform' }) => {
    await machine.calls.run(store.add({ cwd: workspace, ...call }), never);
    return store.outputOf(call.callId);
  };
  const exec = (callId: string, cmd: string) =>
    run({ callId, tool: 'exec_command', input: JSON.stringify({ cmd }) });
  const patch = (callId: string, ...lines: string[]) =>
    run({ callId, tool: 'apply_patch', form: 'freeform', input: patchOf(...lines) });
  const read = (callId: string, path: string) =>
    run({ callId, tool: 'read_file', input: JSON.stringify({ file_path: path }) });
  return { ...opened, exec, patch, read };
}

describe('a machine', () => {
  test('undoes what patches and commands of a turn changed', async () => {
    const { machine, workspace, exec, patch } = openSession();
    writeFileSync(join(workspace, 'kept'), 'kept\n');
    const before = readTree(workspace);
    await patch('1.1.0', '*** Add File: made', '+one');
    await exec('1.2.0', 'mv kept moved; echo two >> made; chmod 600 made; ln -s made link; mkdir -p a/b');
    await patch('1.3.0', '*** Update File: made', '@@', ' one', '-two', '+three');
    expect(await machine.workspaces.undo(undo)).toMatchObject({ kind: 'undone', ordinal: 1, left: [] });
    expect(readTree(workspace)).toEqual(before);
  });

  test('shows what a turn changed as one diff', async () => {
    const { machine, workspace, exec, patch } = openSession();
    writeFileSync(join(workspace, 'a'), 'one\n');
    await patch('1.1.0', '*** Update File: a', '@@', '-one', '+two');
    await exec('1.2.0', 'echo three >> a');
    expect(await machine.workspaces.diff({ sessionId: testSessionId, ordinal: 1 })).toEqual({
      text: expect.stringMatching(
        /^diff --git a\/a b\/a\nindex .*\n--- a\/a\n\+\+\+ b\/a\n@@ -1 \+1,2 @@\n-one\n\+two\n\+three\n$/,
      ),
      bounded: false,
    });
  });

  test('refuses to undo while a call of the session runs', async () => {
    const { machine, workspace, store } = openSession();
    const input = JSON.stringify({ cmd: 'echo ran > ran; while [ ! -e gate ]; do sleep 0.02; done' });
    const running = machine.calls.run(
      store.add({ callId: '1.1.0', tool: 'exec_command', input, cwd: workspace }),
      never,
    );
    await waitForLine(join(workspace, 'ran'));
    expect(await machine.workspaces.undo(undo)).toEqual({
      kind: 'nothing',
      reason: 'a call of this session is running; interrupt the turn, then undo it',
    });
    writeFileSync(join(workspace, 'gate'), '');
    await running;
  });

  test('keeps its state out of the snapshots', async () => {
    const workspace = createFolder();
    const stateDir = join(workspace, 'state', 'machines', 'test');
    const { machine, exec } = openSession({ workspace, stateDir });
    await exec('1.1.0', 'echo server > state/data; echo mine > mine');
    expect(await machine.workspaces.undo(undo)).toMatchObject({ restored: [join(workspace, 'mine')] });
    expect(existsSync(join(workspace, 'state/data'))).toBe(true);
  });

  test('notes the calls of a large workspace as well', async () => {
    const workspace = createFolder();
    for (let at = 0; at < 2_100; at += 1) writeFileSync(join(workspace, `f${at}`), '');
    const before = readTree(workspace);
    const { machine, exec, patch } = openSession({ workspace });
    await exec('1.1.0', 'echo one > f1');
    await exec('1.2.0', 'rm f2');
    await patch('1.3.0', '*** Add File: made', '+one');
    await exec('2.1.0', 'mv f3 f4');
    expect(await machine.workspaces.undo({ ...undo, ordinal: 1 })).toMatchObject({
      kind: 'undone',
      left: [],
    });
    expect(readTree(workspace)).toEqual(before);
  });

  test('undoes a command that went on while its worker was killed', async () => {
    const [stateDir, workspace] = [createFolder(), createFolder()];
    writeFileSync(join(workspace, 'a'), 'before\n');
    const before = readTree(workspace);
    const cmd = 'echo ran > ran; while [ ! -e gate ]; do sleep 0.02; done; echo after >> a; rm gate';
    const call = { callId: '1.1.0', tool: 'exec_command', input: JSON.stringify({ cmd }), cwd: workspace };
    const worker = startWorker({ stateDir, workspace, call });
    await waitForLine(join(workspace, 'ran'));
    worker.kill('SIGKILL');
    await once(worker, 'exit');
    const store = new StrictCallLog();
    const { machine } = openTestMachine({ stateDir, workspace, store });
    store.add(call);
    store.claimElsewhere('1.1.0', machine.registration.machineId);
    machine.calls.recover();
    writeFileSync(join(workspace, 'gate'), '');
    await store.finished('1.1.0');
    expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('before\nafter\n');
    expect(await machine.workspaces.undo(undo)).toMatchObject({ kind: 'undone', left: [] });
    expect(readTree(workspace)).toEqual(before);
  });
});

/** Another process that opens the machine and runs one call on it. */
function startWorker(options: { stateDir: string; workspace: string; call: object }) {
  const { call, ...folders } = options;
  const toUrl = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const code = `
    import { openMachine } from ${toUrl('../../src/machine.ts')};
    import { StrictCallLog } from ${toUrl('../strict-call-log.ts')};
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const store = new StrictCallLog();
    const machine = openMachine({ ...${JSON.stringify(folders)}, name: 'test', supervised: false, env: process.env, store, logger });
    await machine.calls.run(store.add(${JSON.stringify(call)}), new AbortController().signal);`;
  return spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

describe('apply_patch', () => {
  const replace = (from: string, to: string) => ['*** Update File: a', '@@', `-${from}`, `+${to}`] as const;

  test('overwrites nothing that changed outside since the session wrote it, says so once, and then does as asked', async () => {
    const { workspace, patch } = openSession();
    const a = join(workspace, 'a');
    writeFileSync(a, 'one\n');
    await patch('1.1.0', ...replace('one', 'two'));
    appendFileSync(a, 'mine\n');
    expect(await patch('1.2.0', ...replace('two', 'three'))).toMatchObject({
      status: 'failed',
      text: `apply_patch changed nothing: ${a} changed outside since you last read or wrote it; read it again, then decide.`,
    });
    expect(readFileSync(a, 'utf8')).toBe('two\nmine\n');
    expect(await patch('1.3.0', ...replace('two', 'three'))).toMatchObject({ status: 'ok' });
    expect(readFileSync(a, 'utf8')).toBe('three\nmine\n');
  });

  test('overwrites nothing that changed outside since the session read it, through whatever link', async () => {
    const { workspace, read, patch } = openSession();
    const a = join(workspace, 'a');
    writeFileSync(a, 'one\n');
    symlinkSync('a', join(workspace, 'link'));
    expect(await read('1.1.0', join(workspace, 'link'))).toMatchObject({ status: 'ok' });
    writeFileSync(a, 'one\nmine\n');
    expect(await patch('1.2.0', ...replace('one', 'two'))).toMatchObject({ status: 'failed' });
    expect(readFileSync(a, 'utf8')).toBe('one\nmine\n');
  });

  test('takes what the commands of the session change as its own', async () => {
    const { workspace, exec, patch } = openSession();
    writeFileSync(join(workspace, 'a'), 'one\n');
    await patch('1.1.0', ...replace('one', 'two'));
    await exec('1.2.0', 'sed -i s/two/2/ a');
    expect(await patch('1.3.0', ...replace('2', 'three'))).toMatchObject({ status: 'ok' });
  });

  test('is not fooled when a command of the session follows the change from outside', async () => {
    const { workspace, exec, patch } = openSession();
    const a = join(workspace, 'a');
    writeFileSync(a, 'one\n');
    await patch('1.1.0', ...replace('one', 'two'));
    writeFileSync(a, 'two\nmine\n');
    await exec('1.2.0', 'echo again >> a');
    expect(await patch('1.3.0', ...replace('two', 'three'))).toMatchObject({ status: 'failed' });
  });
});

test('a call that could not wait for the first look runs, and undo says what is missing', async () => {
  const [workspace, folder] = [createFolder(), createFolder()];
  const options = { folder, workspace, excluded: [], path: '', logger: silent };
  const guard = createWorkspaceGuard({ ...options, patienceMs: 0 });
  const store = new StrictCallLog();
  const request = store.add({ callId: '1.1.0', tool: 'exec_command', input: '{}', cwd: workspace });
  const claim = await store.claimCall({ ...request, machineId: 'm', bootId: 'b' });
  if (!('call' in claim)) throw new Error('not claimed');
  expect(await guard.begin(claim)).toEqual([]);
  guard.end(claim);
  expect(await guard.undo(undo)).toEqual({
    kind: 'refused',
    ordinal: 1,
    conflicts: [
      {
        path: workspace,
        reason:
          'call 1.1.0: the first look at the folder took too long, so the state before the call was not noted',
      },
    ],
  });
  await guard.close();
});
