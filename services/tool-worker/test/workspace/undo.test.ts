import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createFolder } from '../folders.ts';
import { openHistory, otherSession, readTree, sessionId } from './trees.ts';

const undo = { sessionId, force: false };

function git(folder: string, ...args: string[]): string {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  return execFileSync('git', [...identity, ...args], { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' });
}

/** A repository with every kind of file that can be restored. */
function createRepository(): string {
  const root = createFolder();
  git(root, 'init', '-q', '-b', 'main');
  mkdirSync(join(root, 'src/deep'), { recursive: true });
  mkdirSync(join(root, 'empty'));
  writeFileSync(join(root, '.gitignore'), '*.log\n');
  writeFileSync(join(root, '.gitattributes'), '*.txt text eol=crlf ident\n');
  writeFileSync(join(root, 'src/a.txt'), 'one\ntwo\r\n$Id$\n');
  writeFileSync(join(root, 'src/deep/b.bin'), Buffer.from([0, 255, 13, 10, 0]));
  writeFileSync(join(root, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(join(root, 'secret'), 'key', { mode: 0o600 });
  writeFileSync(join(root, 'ignored.log'), 'ignored');
  writeFileSync(Buffer.from(`${root}/odd\n\xff name`, 'latin1'), 'odd');
  symlinkSync('src/a.txt', join(root, 'link'));
  symlinkSync('/nowhere', join(root, 'broken'));
  git(root, 'add', 'src', 'run.sh');
  git(root, 'commit', '-qm', 'first');
  return root;
}

function changeEverything(root: string): void {
  appendFileSync(join(root, 'src/a.txt'), 'three\n');
  rmSync(join(root, 'src/deep'), { recursive: true });
  writeFileSync(join(root, 'src/deep'), 'a file where a folder was');
  chmodSync(join(root, 'run.sh'), 0o644);
  chmodSync(join(root, 'src'), 0o700);
  rmSync(join(root, 'secret'));
  renameSync(join(root, 'ignored.log'), join(root, 'renamed.log'));
  rmSync(Buffer.from(`${root}/odd\n\xff name`, 'latin1'));
  rmSync(join(root, 'link'));
  mkdirSync(join(root, 'link/made'), { recursive: true });
  writeFileSync(join(root, 'link/made/file'), 'made');
  rmSync(join(root, 'broken'));
  symlinkSync('elsewhere', join(root, 'broken'));
  rmSync(join(root, 'empty'), { recursive: true });
  mkdirSync(join(root, 'new/empty'), { recursive: true });
  writeFileSync(Buffer.from(`${root}/new/\xfe`, 'latin1'), 'new');
}

describe('undo', () => {
  test('restores a tree bit for bit after commands that created, changed, deleted and renamed files', () => {
    const { history, root, call } = openHistory({ root: createRepository() });
    const before = readTree(root);
    call('1.1.0', () => changeEverything(root));
    expect(readTree(root)).not.toEqual(before);
    expect(history.undo(undo)).toMatchObject({ kind: 'undone', ordinal: 1, left: [] });
    expect(readTree(root)).toEqual(before);
  });

  test('never touches the repository of the workspace', () => {
    const { history, root, call } = openHistory({ root: createRepository() });
    const before = readTree(join(root, '.git'));
    call('1.1.0', () => changeEverything(root));
    history.diff({ sessionId, ordinal: 1 });
    history.undo(undo);
    expect(readTree(join(root, '.git'))).toEqual(before);
    expect(git(root, 'status', '--short', 'src', 'run.sh')).toBe('');
  });

  test('takes the session out of a folder below the root of its repository, too', () => {
    const root = createRepository();
    const { history, call } = openHistory({ root: join(root, 'src') });
    const before = readTree(root);
    call('1.1.0', () => changeEverything(root));
    history.undo(undo);
    expect(readTree(root)).toEqual(before);
  });

  test('goes back to before any turn, and leaves what others changed elsewhere', () => {
    const { history, root, call } = openHistory();
    const at = (name: string) => join(root, name);
    const write = (name: string, text: string) => writeFileSync(at(name), text);
    write('a', '0');
    call('1.1.0', () => write('a', '1'));
    const afterFirst = readTree(root);
    call('2.1.0', () => write('a', '2'));
    call('2.2.0', () => write('b', '2'));
    call('3.1.0', () => write('a', '3'));
    write('of-somebody-else', 'x');
    expect(history.undo({ ...undo, ordinal: 2 })).toEqual({
      kind: 'undone',
      ordinal: 2,
      restored: [at('a'), at('b')],
      left: [],
    });
    const { 'of-somebody-else': theirs, ...rest } = readTree(root);
    expect([rest, theirs]).toEqual([afterFirst, expect.any(String)]);
    history.undo({ ...undo, ordinal: 1 });
    expect(readFileSync(at('a'), 'utf8')).toBe('0');
  });

  test('takes calls that ran side by side as one', () => {
    const { history, root, call } = openHistory();
    const a = join(root, 'a');
    writeFileSync(a, '0');
    call('1.1.0', () => {
      appendFileSync(a, '1');
      call('1.1.1', () => appendFileSync(a, '2'));
      appendFileSync(a, '3');
    });
    expect(history.undo(undo)).toMatchObject({ kind: 'undone', restored: [a] });
    expect(readFileSync(a, 'utf8')).toBe('0');
  });

  test('done twice does nothing the second time', () => {
    const { history, root, call } = openHistory();
    call('1.1.0', () => writeFileSync(join(root, 'a'), '1'));
    history.undo(undo);
    writeFileSync(join(root, 'a'), 'again');
    expect(history.undo(undo)).toEqual({ kind: 'nothing', reason: 'turn 1 is undone already' });
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('again');
  });

  test('of nothing says why there is nothing', () => {
    const { history, root, call } = openHistory();
    expect(history.undo(undo)).toMatchObject({
      kind: 'nothing',
      reason: 'this session has run no tool that changes files on this machine',
    });
    call('1.1.0', () => writeFileSync(join(root, 'a'), '1'));
    expect(history.undo({ ...undo, ordinal: 2 })).toMatchObject({ kind: 'nothing' });
  });
});

describe('a change from outside', () => {
  test('after the turn is named and kept, until it is forced', () => {
    const { history, root, call } = openHistory();
    const [a, b] = [join(root, 'a'), join(root, 'b')];
    writeFileSync(a, '0');
    call('1.1.0', () => [a, b].forEach((path) => writeFileSync(path, '1')));
    writeFileSync(a, 'mine');
    rmSync(b);
    const now = readTree(root);
    expect(history.undo(undo)).toEqual({
      kind: 'refused',
      ordinal: 1,
      conflicts: [{ path: a, reason: 'it was changed after the turn' }],
    });
    expect(readTree(root)).toEqual(now);
    expect(history.undo({ ...undo, force: true })).toMatchObject({ kind: 'undone', restored: [a] });
    expect([readFileSync(a, 'utf8'), existsSync(b)]).toEqual(['0', false]);
  });

  test('between two turns is named', () => {
    const { history, root, call } = openHistory();
    const a = join(root, 'a');
    call('1.1.0', () => writeFileSync(a, '1'));
    writeFileSync(a, 'mine');
    call('2.1.0', () => appendFileSync(a, '2'));
    expect(history.undo({ ...undo, ordinal: 1 })).toMatchObject({
      conflicts: [{ path: a, reason: 'it was changed between the calls of the session' }],
    });
    expect(history.undo(undo)).toMatchObject({ kind: 'undone', ordinal: 2 });
    expect(readFileSync(a, 'utf8')).toBe('mine');
  });

  test('in a folder that the turn made keeps the folder', () => {
    const { history, root, call } = openHistory();
    call('1.1.0', () => {
      mkdirSync(join(root, 'new'));
      writeFileSync(join(root, 'new/theirs'), '');
    });
    writeFileSync(join(root, 'new/mine'), '');
    expect(history.undo(undo)).toEqual({
      kind: 'undone',
      ordinal: 1,
      restored: [join(root, 'new/theirs')],
      left: [
        {
          path: join(root, 'new'),
          reason: 'it holds something that the session did not make, or a repository',
        },
      ],
    });
    expect(Object.keys(readTree(root))).toEqual(['new', 'new/mine']);
  });

  test('in a folder that the turn put in the place of a file is named', () => {
    const { history, root, call } = openHistory();
    const a = join(root, 'a');
    writeFileSync(a, '0');
    call('1.1.0', () => {
      rmSync(a);
      mkdirSync(a);
    });
    writeFileSync(join(a, 'mine'), 'mine');
    expect(history.undo(undo)).toMatchObject({
      kind: 'refused',
      conflicts: [{ path: join(a, 'mine'), reason: 'it was made after the turn' }],
    });
    history.undo({ ...undo, force: true });
    expect(readFileSync(a, 'utf8')).toBe('0');
  });

  test('that put a link in the place of a folder is not followed', () => {
    const { history, root, call } = openHistory();
    const outside = createFolder();
    mkdirSync(join(root, 'folder'));
    writeFileSync(join(root, 'folder/a'), '0');
    const before = readTree(root);
    call('1.1.0', () => writeFileSync(join(root, 'folder/a'), '1'));
    rmSync(join(root, 'folder'), { recursive: true });
    symlinkSync(outside, join(root, 'folder'));
    expect(history.undo(undo)).toMatchObject({
      conflicts: [
        { path: join(root, 'folder/a'), reason: 'it was changed after the turn' },
        { path: join(root, 'folder'), reason: 'it was removed or replaced after the turn' },
      ],
    });
    history.undo({ ...undo, force: true });
    expect(readTree(root)).toEqual(before);
    expect(readTree(outside)).toEqual({});
  });
});

describe('two sessions in one workspace', () => {
  test('are undone each on its own when their calls took turns', () => {
    const { history, root, call } = openHistory();
    call('1.1.0', () => writeFileSync(join(root, 'a'), 'a1'));
    call('1.1.0', () => writeFileSync(join(root, 'b'), 'b1'), otherSession);
    call('1.2.0', () => appendFileSync(join(root, 'a'), 'a2'));
    expect(history.undo(undo)).toMatchObject({ kind: 'undone', restored: [join(root, 'a')] });
    expect(Object.keys(readTree(root))).toEqual(['b']);
  });

  test('hear of each other where they changed one file at the same time', () => {
    const { history, root, call } = openHistory();
    call('1.1.0', () => {
      writeFileSync(join(root, 'a'), '1');
      call('1.1.0', () => writeFileSync(join(root, 'b'), '1'), otherSession);
    });
    expect(history.undo(undo)).toMatchObject({
      kind: 'refused',
      conflicts: [{ path: join(root, 'b'), reason: `session ${otherSession} changed it at the same time` }],
    });
  });
});
