import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '@holdfast/failures';
import { describe, expect, test } from 'vitest';
import { openIdentity } from '../src/machine-identity.ts';
import { createFolder } from './folders.ts';
import { openTestMachine, silent } from './machines.ts';
import { waitForLine } from './process-host/hosts.ts';
import { StrictCallLog, testSessionId } from './strict-call-log.ts';

/** Another process that opens the machine and runs one command on it. */
function startWorker(options: { stateDir: string; workspace: string; cmd: string }) {
  const { stateDir, workspace, cmd } = options;
  const toUrl = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const call = { callId: '1.1.0', tool: 'exec_command', input: JSON.stringify({ cmd }), cwd: workspace };
  const code = `
    import { openMachine } from ${toUrl('../src/machine.ts')};
    import { StrictCallLog } from ${toUrl('./strict-call-log.ts')};
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const store = new StrictCallLog();
    const options = ${JSON.stringify({ stateDir, workspace, name: 'test', supervised: false })};
    const machine = openMachine({ ...options, env: process.env, store, logger });
    const origin = { workflowId: 'w', runId: 'r', activityId: '7' };
    await machine.calls.run({ ...store.add(${JSON.stringify(call)}), origin }, new AbortController().signal);`;
  const worker = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return { worker, call };
}

describe('a machine', () => {
  test('is served by one process at a time', () => {
    const { stateDir, machine } = openTestMachine();
    expect(() => openTestMachine({ stateDir })).toThrow(
      new Failure('machine.lease-held', { detail: 'test' }),
    );
    expect(machine.registration).toEqual({
      machineId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      bootId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      kind: 'machine',
      name: 'test',
      catalog: { digest: expect.stringMatching(/^[0-9a-f]{64}$/), tools: expect.any(Array) },
      capabilities: {
        platform: process.platform,
        arch: process.arch,
        hostname: expect.any(String),
        workspace: expect.any(String),
        protocol: 1,
      },
    });
    expect(machine.registration.catalog.tools.map((tool) => tool.name)).toEqual(
      expect.arrayContaining(['apply_patch', 'exec_command', 'write_stdin']),
    );
  });

  test('keeps its id and its catalog over a restart, and knows the boots before', async () => {
    const first = openTestMachine();
    await first.machine.close({ limitMs: 1_000 });
    const second = openTestMachine({ stateDir: first.stateDir });
    const [one, two] = [first.machine.registration, second.machine.registration];
    expect([two.machineId, two.catalog]).toEqual([one.machineId, one.catalog]);
    expect(two.bootId).not.toBe(one.bootId);
    expect(second.machine.earlierBoots).toEqual([one.bootId]);
  });

  test('survives kill -9 of its worker: the command goes on, runs once, and its whole outcome is reported', async () => {
    const [stateDir, workspace] = [createFolder(), createFolder()];
    const ran = join(workspace, 'ran');
    const gate = join(workspace, 'gate');
    const cmd = `echo before; echo ran >> ${ran}; while [ ! -e ${gate} ]; do sleep 0.02; done; echo after`;
    const { worker, call } = startWorker({ stateDir, workspace, cmd });
    await waitForLine(ran);
    worker.kill('SIGKILL');
    await once(worker, 'exit');
    const store = new StrictCallLog();
    const { machine } = openTestMachine({ stateDir, workspace, store });
    expect(machine.unansweredDispatches()).toEqual([{ workflowId: 'w', runId: 'r', activityId: '7' }]);
    store.add(call);
    store.claimElsewhere('1.1.0', machine.registration.machineId);
    machine.calls.recover();
    writeFileSync(gate, '');
    const output = await store.finished('1.1.0');
    expect([output.status, output.text.split('\n').slice(-4)]).toEqual([
      'ok',
      ['Output:', 'before', 'after', ''],
    ]);
    expect(readFileSync(ran, 'utf8')).toBe('ran\n');
  });

  test('ends a command whose turn was ended while the worker was dead', async () => {
    const [stateDir, workspace] = [createFolder(), createFolder()];
    const ran = join(workspace, 'ran');
    const trace = join(workspace, 'trace');
    const cmd = `trap 'echo ended > ${trace}; exit' TERM; echo ran > ${ran}; while :; do sleep 0.02; done`;
    const { worker, call } = startWorker({ stateDir, workspace, cmd });
    await waitForLine(ran);
    worker.kill('SIGKILL');
    await once(worker, 'exit');
    const store = new StrictCallLog();
    const { machine } = openTestMachine({ stateDir, workspace, store });
    store.add(call);
    store.seal('1.1.0');
    machine.calls.recover();
    expect(await waitForLine(trace)).toBe('ended');
    expect(store.claims).toEqual(['sealed']);
  });

  test('keeps its state to its owner', () => {
    const stateDir = join(createFolder(), 'deep', 'state');
    openTestMachine({ stateDir });
    expect(statSync(stateDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(stateDir, 'machine.json')).mode & 0o777).toBe(0o600);
  });

  test('without a way to start its process host answers with the reason', async () => {
    const { machine, store, workspace } = openTestMachine({ env: { PATH: '/nowhere' } });
    const request = store.add({
      callId: '1.1.0',
      tool: 'exec_command',
      input: '{"cmd":"true"}',
      cwd: workspace,
    });
    await machine.calls.run(request, new AbortController().signal);
    expect(store.outputOf('1.1.0')).toMatchObject({
      status: 'failed',
      text: expect.stringMatching(
        /^exec_command failed for `true`: the process host ended with code 1; see .*process-host\.log$/,
      ),
    });
  });
});

describe('the identity of a machine', () => {
  test('keeps every boot that the store may know until one is confirmed', () => {
    const stateDir = createFolder();
    const first = openIdentity({ stateDir, name: 'a' });
    first.confirmBoot();
    const second = openIdentity({ stateDir, name: 'a' });
    const third = openIdentity({ stateDir, name: 'a' });
    expect(third.earlierBoots).toEqual([second.bootId, first.bootId]);
    third.confirmBoot();
    expect(openIdentity({ stateDir, name: 'a' }).earlierBoots).toEqual([third.bootId]);
  });

  test('is not made anew when the file is damaged', () => {
    const stateDir = createFolder();
    writeFileSync(join(stateDir, 'machine.json'), '{}');
    expect(() => openIdentity({ stateDir, name: 'a' })).toThrow(
      `${stateDir}/machine.json has no machine id; remove the file to make a new machine`,
    );
  });
});

test('a machine whose calls nobody makes leaves no process behind', async () => {
  const { machine, stateDir } = openTestMachine({ logger: silent });
  await machine.close({ limitMs: 100 });
  expect(existsSync(join(stateDir, 'process-host.log'))).toBe(false);
  await expect(
    machine.calls.run({ sessionId: testSessionId, callId: '1.1.0' }, new AbortController().signal),
  ).rejects.toThrow('this tool worker is stopping');
});
