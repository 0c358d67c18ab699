import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { answer, command, driveSession, patch, script, startTestStack } from '@holdfast/testing';
import type { DrivenSession, TestStack } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

/** A session whose one turn patched a file, and ran a command that created, changed, deleted and renamed others. */
async function startChanged(): Promise<DrivenSession> {
  const cwd = stack.folder();
  writeFileSync(join(cwd, 'patched'), 'as it was\n');
  writeFileSync(join(cwd, 'deleted'), 'still wanted\n');
  writeFileSync(join(cwd, 'program'), '#!/bin/sh\n');
  chmodSync(join(cwd, 'program'), 0o755);
  mkdirSync(join(cwd, 'empty'));
  symlinkSync('deleted', join(cwd, 'link'));
  const change =
    'rm deleted link; rmdir empty; mv program moved; chmod 600 moved; mkdir -p new/deep; echo x > new/deep/file';
  const replies = [
    patch('*** Update File: patched', '@@', '-as it was', '+as the agent wants it'),
    command(change),
    answer('done'),
  ];
  const session = await driveSession(stack, script(...replies), { prompt: 'change everything', cwd });
  await session.untilTurnEnds();
  expect(existsSync(join(cwd, 'new/deep/file'))).toBe(true);
  return session;
}

describe('./holdfast undo', () => {
  test('puts back what a patch and a command of the last turn changed, and says so once', async () => {
    const { sessionId, cwd } = await startChanged();
    const { code, stdout, stderr } = await stack.holdfast(['undo', sessionId]);
    expect([code, stderr]).toEqual([0, expect.stringContaining('to before turn 1')]);
    expect(stdout.split('\n')).toContain(join(cwd, 'patched'));
    expect(readFileSync(join(cwd, 'patched'), 'utf8')).toBe('as it was\n');
    expect(readFileSync(join(cwd, 'link'), 'utf8')).toBe('still wanted\n');
    expect(lstatSync(join(cwd, 'link')).isSymbolicLink()).toBe(true);
    expect((lstatSync(join(cwd, 'program')).mode & 0o777).toString(8)).toBe('755');
    expect(existsSync(join(cwd, 'empty'))).toBe(true);
    expect(['moved', 'new'].filter((name) => existsSync(join(cwd, name)))).toEqual([]);
    const again = await stack.holdfast(['undo', sessionId]);
    expect([again.code, again.stdout]).toEqual([1, '']);
    expect(again.stderr).toContain('turn 1 is undone already');
  });

  test('refuses where a later change would be lost, names it, and does it all the same when forced', async () => {
    const { sessionId, cwd } = await startChanged();
    writeFileSync(join(cwd, 'patched'), 'as a person wants it\n');
    const refused = await stack.holdfast(['undo', sessionId, '--json']);
    expect(refused.code).toBe(1);
    const { kind, conflicts } = JSON.parse(refused.stdout) as { kind: string; conflicts: { path: string }[] };
    expect([kind, conflicts.map(({ path }) => path)]).toEqual(['refused', [join(cwd, 'patched')]]);
    expect(readFileSync(join(cwd, 'patched'), 'utf8')).toBe('as a person wants it\n');
    expect(existsSync(join(cwd, 'moved'))).toBe(true);
    expect((await stack.holdfast(['undo', sessionId, '--force'])).code).toBe(0);
    expect(readFileSync(join(cwd, 'patched'), 'utf8')).toBe('as it was\n');
    expect(existsSync(join(cwd, 'moved'))).toBe(false);
  });

  test('says that there is nothing to undo', async () => {
    const session = await driveSession(stack, script(answer('only words')), { prompt: 'go' });
    await session.untilTurnEnds();
    const { code, stderr } = await stack.holdfast(['undo', session.sessionId]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Nothing was undone:')]);
  });
});
