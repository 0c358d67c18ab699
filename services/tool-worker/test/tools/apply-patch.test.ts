import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { CallDetail, CallOutput } from '@holdfast/protocol';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Prepared, Tool } from '../../src/tool.ts';
import { createApplyPatch } from '../../src/tools/apply-patch/apply-patch.ts';
import { createFolder } from '../folders.ts';
import { never } from '../machines.ts';

let cwd = '';
let tool: Tool;
beforeEach(() => {
  cwd = createFolder();
  tool = createApplyPatch({ workspace: cwd });
});

const toCall = (input: string, form: 'function' | 'freeform' = 'freeform'): CallDetail => ({
  sessionId: 's',
  turnId: 't',
  callId: '1.1.0',
  modelCallId: 'm',
  tool: 'apply_patch',
  form,
  input,
  context: { cwd, approvalPolicy: 'never' },
});
const wrap = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
const prepare = (...lines: string[]) => tool.prepare(toCall(wrap(...lines)));
const toRun = () => ({ call: toCall(''), key: 'k', signal: never, emit: () => undefined });

async function apply(...lines: string[]): Promise<CallOutput> {
  const prepared = await prepare(...lines);
  return prepared.kind === 'refused' ? prepared.output : prepared.run(toRun());
}

const withoutTime = (output: CallOutput): CallOutput => ({
  ...output,
  text: output.text.replace(/^Wall time: [\d.]+ seconds$/m, 'Wall time: N seconds'),
  tokens: 0,
});

function assertReady(prepared: Prepared): asserts prepared is Extract<Prepared, { kind: 'ready' }> {
  expect(prepared.kind).toBe('ready');
}

const file = (name: string) => join(cwd, name);
const read = (name: string) => readFileSync(file(name), 'utf8');
const write = (name: string, text: string) => writeFileSync(file(name), text);

describe('apply_patch', () => {
  test('adds, updates, moves and deletes files and says so', async () => {
    write('edit.txt', 'one\ntwo\n');
    write('go.txt', 'go\n');
    write('from.txt', 'a\nb\n');
    const output = await apply(
      '*** Delete File: go.txt',
      '*** Update File: edit.txt',
      '-two',
      '+2',
      '*** Add File: deep/new.txt',
      '+hello',
      '*** Update File: from.txt',
      '*** Move to: moved/to.txt',
      '-b',
      '+c',
    );
    expect(withoutTime(output)).toEqual({
      status: 'ok',
      text: [
        'Exit code: 0',
        'Wall time: N seconds',
        'Output:',
        'Success. Updated the following files:',
        'A deep/new.txt',
        'M edit.txt',
        'M moved/to.txt',
        'D go.txt',
        '',
      ].join('\n'),
      tokens: 0,
      durationMs: expect.any(Number),
      changes: [
        { path: file('go.txt'), kind: 'delete' },
        { path: file('edit.txt'), kind: 'update' },
        { path: file('deep/new.txt'), kind: 'add' },
        { path: file('moved/to.txt'), kind: 'add' },
        { path: file('from.txt'), kind: 'delete' },
      ],
    });
    expect([read('edit.txt'), read('deep/new.txt'), read('moved/to.txt')]).toEqual([
      'one\n2\n',
      'hello\n',
      'a\nc\n',
    ]);
    expect(readdirSync(cwd).toSorted()).toEqual(['deep', 'edit.txt', 'moved']);
  });

  test('takes absolute paths, overwrites when adding and when moving', async () => {
    write('a', 'old a\n');
    write('b', 'old b\n');
    write('c', 'old c\n');
    expect(
      (await apply(`*** Add File: ${file('a')}`, '+new a', '*** Update File: b', '*** Move to: c', ' old b'))
        .status,
    ).toBe('ok');
    expect([read('a'), read('c'), existsSync(file('b'))]).toEqual(['new a\n', 'old b\n', false]);
  });

  test('changes nothing when one part does not fit', async () => {
    write('a', 'a\n');
    write('b', 'b\n');
    const output = await apply('*** Update File: a', '-a', '+x', '*** Update File: b', '-nope', '+x');
    expect(output).toMatchObject({
      status: 'failed',
      text: `apply_patch verification failed: Failed to find expected lines in ${file('b')}:\nnope`,
    });
    expect([read('a'), read('b')]).toEqual(['a\n', 'b\n']);
  });

  test.each([
    [['*** Update File: none', '-a'], 'Failed to read file to update {cwd}/none: there is no such file'],
    [['*** Delete File: none'], 'Failed to read file to delete {cwd}/none: there is no such file'],
    [['*** Delete File: folder'], '{cwd}/folder is not a file; name another path'],
    [['*** Update File: binary', '-a'], 'Failed to read file to update {cwd}/binary: it is not UTF-8 text'],
    [['*** Delete File: a', '*** Add File: ./a', '+x'], 'multiple operations target {cwd}/a'],
    [
      ['*** Update File: a', '*** Move to: b', '-a', '*** Delete File: b'],
      'multiple operations target {cwd}/b',
    ],
  ])('refuses %j', async (lines, message) => {
    mkdirSync(file('folder'));
    writeFileSync(file('binary'), Buffer.from([0xff, 0xfe, 0x61]));
    write('a', 'a\n');
    write('b', 'b\n');
    const { status, text } = await apply(...lines);
    expect([status, text]).toEqual([
      'failed',
      `apply_patch verification failed: ${message.replace('{cwd}', cwd)}`,
    ]);
  });

  test('says when the patch has no files', async () => {
    expect(await apply()).toMatchObject({ status: 'failed', text: 'No files were modified.' });
  });

  test('keeps the mode of a file, a link and a byte order mark', async () => {
    write('script', '\uFEFFa\n');
    chmodSync(file('script'), 0o751);
    symlinkSync('script', file('link'));
    await apply('*** Update File: link', '+b');
    expect(read('script')).toBe('\uFEFFa\nb\n');
    expect(statSync(file('script')).mode & 0o777).toBe(0o751);
    expect(lstatSync(file('link')).isSymbolicLink()).toBe(true);
    await apply('*** Update File: script', '*** Move to: moved', '+c');
    expect(statSync(file('moved')).mode & 0o777).toBe(0o751);
  });

  test('keeps the owner of a file, and gives a new one the usual mode', async () => {
    write('kept', 'a\n');
    const owner = process.getuid?.() === 0 ? 12_345 : (process.getuid?.() ?? 0);
    chownSync(file('kept'), owner, statSync(file('kept')).gid);
    await apply('*** Update File: kept', '+b', '*** Add File: new', '+x');
    write('usual', 'x');
    expect(statSync(file('kept')).uid).toBe(owner);
    expect(statSync(file('new')).mode).toBe(statSync(file('usual')).mode);
  });

  test('says what was changed when writing fails half way', async () => {
    const output = await apply(
      '*** Add File: first',
      '+1',
      '*** Add File: x',
      '*** Add File: x/second',
      '+2',
    );
    expect(output.status).toBe('failed');
    expect(output.text).toMatch(/^apply_patch failed: .*\. Changed before that: .*\/first, .*\/x\.$/);
    expect(output.changes).toEqual([
      { path: file('first'), kind: 'add' },
      { path: file('x'), kind: 'add' },
    ]);
    expect(readdirSync(cwd).toSorted()).toEqual(['first', 'x']);
  });

  test('leaves a file that is moved onto itself where it is', async () => {
    write('a', 'a\n');
    symlinkSync('a', file('link'));
    expect((await apply('*** Update File: a', '*** Move to: ./a', '+b')).status).toBe('ok');
    expect((await apply('*** Update File: a', '*** Move to: link', '+c')).status).toBe('ok');
    expect(read('a')).toBe('a\nb\nc\n');
  });

  test('takes the text also as the argument of a function', async () => {
    const prepared = await tool.prepare(
      toCall(JSON.stringify({ input: wrap('*** Add File: a', '+x') }), 'function'),
    );
    assertReady(prepared);
    expect(prepared.question).toBe('apply_patch: A a');
    const refused = await tool.prepare(toCall('{"path": "a"}', 'function'));
    expect(refused).toMatchObject({
      kind: 'refused',
      output: {
        text: 'apply_patch verification failed: send the patch as plain text that begins with *** Begin Patch',
      },
    });
  });
});

describe('what became of a patch', () => {
  const lines = ['*** Update File: a', '-a', '+A', '*** Add File: b', '+B', '*** Delete File: c'];

  async function prepareFiles(): Promise<unknown> {
    write('a', 'a\n');
    write('c', 'c\n');
    const prepared = await prepare(...lines);
    assertReady(prepared);
    return prepared.evidence;
  }

  const resolve = (evidence: unknown) =>
    tool.resolve(toRun(), {
      evidence: JSON.parse(JSON.stringify(evidence)) as unknown,
      sameKernelBoot: false,
    });

  test('is success when every file is as wanted', async () => {
    const evidence = await prepareFiles();
    const applied = await apply(...lines);
    const found = await resolve(evidence);
    expect(found === 'not-started' ? found : withoutTime(found)).toEqual({
      ...withoutTime(applied),
      durationMs: 0,
    });
  });

  test('is nothing when every file is as before', async () => {
    expect(await resolve(await prepareFiles())).toBe('not-started');
  });

  test('is unknown when some files are as before and others not, file by file', async () => {
    const evidence = await prepareFiles();
    write('a', 'A\n');
    expect(await resolve(evidence)).toMatchObject({
      status: 'unknown',
      text:
        'It is not known whether this call took effect; look before doing it again. The worker died while it applied the patch. ' +
        `${file('a')} is as wanted. ${file('b')} does not exist yet. ${file('c')} is as it was before.`,
    });
  });

  test('is unknown when somebody else changed a file', async () => {
    const evidence = await prepareFiles();
    write('a', 'something else\n');
    expect(await resolve(evidence)).toMatchObject({
      status: 'unknown',
      text: expect.stringContaining(`${file('a')} is neither as before nor as wanted.`),
    });
  });
});
