import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { CallDetail } from '@holdfast/protocol';
import { beforeEach, describe, expect, test } from 'vitest';
import { createApplyPatch } from '../../src/tools/apply-patch/apply-patch.ts';
import { createFolder } from '../folders.ts';
import { never } from '../machines.ts';

let cwd = '';
let workspace = '';
let outside = '';
beforeEach(() => {
  cwd = createFolder();
  workspace = createFolder();
  outside = createFolder();
  writeFileSync(join(outside, 'secret'), 'secret\n');
  writeFileSync(join(cwd, 'own'), 'own\n');
});

const toCall = (input: string): CallDetail => ({
  sessionId: 's',
  turnId: 't',
  callId: '1.1.0',
  modelCallId: 'm',
  tool: 'apply_patch',
  form: 'freeform',
  input,
  context: { cwd, approvalPolicy: 'never' },
});

async function apply(...lines: string[]): Promise<string> {
  const call = toCall(['*** Begin Patch', ...lines, '*** End Patch'].join('\n'));
  const prepared = await createApplyPatch({ workspace }).prepare(call);
  if (prepared.kind === 'refused') return prepared.output.text;
  return (await prepared.run({ call, key: 'k', signal: never, emit: () => undefined })).status;
}

describe('a patch', () => {
  test('changes files below the folder of the session and below the workspace', async () => {
    expect(await apply('*** Add File: a/b', '+1', `*** Add File: ${workspace}/c/d`, '+2')).toBe('ok');
    expect(readFileSync(join(cwd, 'a/b'), 'utf8')).toBe('1\n');
    expect(readFileSync(join(workspace, 'c/d'), 'utf8')).toBe('2\n');
  });

  test.each([
    ['adding by an absolute path', ['*** Add File: {outside}/new', '+x'], '{outside}/new'],
    ['adding by a relative path', ['*** Add File: sub/../../x', '+x'], '{parent}/x'],
    ['overwriting', ['*** Add File: {outside}/secret', '+x'], '{outside}/secret'],
    ['updating', ['*** Update File: {outside}/secret', '-secret'], '{outside}/secret'],
    ['deleting', ['*** Delete File: {outside}/secret'], '{outside}/secret'],
    ['moving there', ['*** Update File: own', '*** Move to: {outside}/own', ' own'], '{outside}/own'],
    [
      'moving from there',
      ['*** Update File: {outside}/secret', '*** Move to: got', ' secret'],
      '{outside}/secret',
    ],
    ['a folder whose name only begins alike', ['*** Add File: {cwd}-2/x', '+x'], '{cwd}-2/x'],
  ])('is refused when it would leave them by %s', async (_how, lines, named) => {
    const fill = (text: string) =>
      text.replace('{outside}', outside).replace('{parent}', join(cwd, '..')).replace('{cwd}', cwd);
    expect(await apply(...lines.map(fill))).toBe(
      `apply_patch verification failed: ${fill(named)} is outside the folders that may be changed; name a file below ${cwd} or ${workspace}`,
    );
    expect([readdirSync(outside), readFileSync(join(outside, 'secret'), 'utf8')]).toEqual([
      ['secret'],
      'secret\n',
    ]);
    expect(readdirSync(cwd)).toEqual(['own']);
  });

  test.each([
    ['a link to a folder', 'folder', 'folder/new', 'new'],
    ['a link to a file', 'folder/secret', 'folder', 'secret'],
    ['a link to nothing', 'folder/new', 'folder', 'new'],
  ])('is refused when it would leave them through %s', async (_what, leadsTo, named, target) => {
    symlinkSync(leadsTo.replace('folder', outside), join(cwd, 'folder'));
    expect(await apply(`*** Add File: ${named}`, '+x')).toBe(
      `apply_patch verification failed: ${join(cwd, named)} is outside the folders that may be changed ` +
        `(it leads to ${join(outside, target)}); name a file below ${cwd} or ${workspace}`,
    );
    expect([readdirSync(outside), readFileSync(join(outside, 'secret'), 'utf8')]).toEqual([
      ['secret'],
      'secret\n',
    ]);
  });

  test('writes through links that stay inside, and takes a link itself away', async () => {
    mkdirSync(join(cwd, 'real'));
    symlinkSync('real', join(cwd, 'alias'));
    symlinkSync('real/made', join(cwd, 'link'));
    symlinkSync(join(outside, 'secret'), join(cwd, 'leak'));
    expect(
      await apply('*** Add File: alias/x', '+1', '*** Add File: link', '+2', '*** Delete File: leak'),
    ).toBe('ok');
    expect(readdirSync(join(cwd, 'real')).toSorted()).toEqual(['made', 'x']);
    expect(readlinkSync(join(cwd, 'link'))).toBe('real/made');
    expect(lstatSync(join(cwd, 'leak'), { throwIfNoEntry: false })).toBeUndefined();
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret\n');
  });

  test('of a command with a folder of its own is held to the folders of the session', async () => {
    const tool = createApplyPatch({ workspace });
    mkdirSync(join(cwd, 'sub'));
    const call = toCall('*** Begin Patch\n*** Add File: x\n+1\n*** End Patch');
    const inside = await tool.prepareIn(call, join(cwd, 'sub'));
    expect(inside).toMatchObject({ evidence: { files: [{ target: join(cwd, 'sub/x') }] } });
    expect(await tool.prepareIn(call, outside)).toMatchObject({
      kind: 'refused',
      output: { text: expect.stringContaining(`${outside}/x is outside the folders that may be changed;`) },
    });
  });

  test('is refused when links run in a circle, or two names mean one file', async () => {
    symlinkSync('loop', join(cwd, 'loop'));
    symlinkSync('own', join(cwd, 'same'));
    expect(await apply('*** Add File: loop', '+x')).toMatch(/^apply_patch verification failed: .*loop/);
    expect(await apply('*** Update File: own', '+x', '*** Update File: same', '+y')).toBe(
      `apply_patch verification failed: multiple operations target ${join(cwd, 'same')}`,
    );
    expect(readFileSync(join(cwd, 'own'), 'utf8')).toBe('own\n');
  });
});
