import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ObjectStore } from '../../src/workspace/object-store.ts';
import { defaultLimits, Snapshot } from '../../src/workspace/snapshot.ts';
import { createFolder } from '../folders.ts';
import { openHistory, readTree, sessionId } from './trees.ts';

const undo = { sessionId, force: false };
const limits = { ...defaultLimits, fileBytes: 100, derivedFiles: 3 };

function fill(folder: string, count: number): void {
  mkdirSync(folder, { recursive: true });
  for (let at = 0; at < count; at += 1) writeFileSync(join(folder, `f${at}`), `file ${at}`);
}

/** The name of the one private git directory. */
function findStore(folder: string): string {
  return readdirSync(folder).find((name) => !name.startsWith('ledger')) ?? '';
}

/** Another process that is killed when it writes the object with this number into the private directory. */
function dieInLook(options: { folder: string; root: string; at: number }): NodeJS.Signals | null {
  const toUrl = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const code = `
    import { writeFileSync } from 'node:fs';
    import { WorkspaceHistory } from ${toUrl('../../src/workspace/history.ts')};
    import { ObjectStore } from ${toUrl('../../src/workspace/object-store.ts')};
    const { folder, root, at } = ${JSON.stringify(options)};
    const { put } = ObjectStore.prototype;
    let count = 0;
    ObjectStore.prototype.put = function (kind, content) {
      if ((count += 1) === at) {
        writeFileSync(this.folder + '/drafts/half', 'half an object');
        process.kill(process.pid, 'SIGKILL');
      }
      return put.call(this, kind, content);
    };
    const history = new WorkspaceHistory({ folder, excluded: [], path: '' });
    history.begin({ sessionId: ${JSON.stringify(sessionId)}, turnId: 't', callId: '1.1.0', tool: 'x', cwd: root, look: true });`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', code], { stdio: 'inherit' }).signal;
}

describe('a snapshot', () => {
  /** Some files are written one by one, many as one. */
  const cuts = [1, 4, 12]
    .map((at) => ({ count: 10, at }))
    .concat([1, 100, 302].map((at) => ({ count: 300, at })));

  test('that was cut off by kill -9 leaves nothing that hurts the next one', () => {
    for (const { count, at } of cuts) {
      const [root, folder] = [createFolder(), createFolder()];
      fill(join(root, 'sub'), count);
      const before = readTree(root);
      expect(dieInLook({ folder, root, at })).toBe('SIGKILL');
      const { history, call } = openHistory({ root, folder });
      call('1.1.0', () => {
        fill(join(root, 'sub'), count + 2);
        rmSync(join(root, 'sub/f3'));
      });
      const store = findStore(folder);
      expect(readdirSync(join(folder, store, 'drafts'))).toEqual([]);
      expect(history.undo(undo)).toMatchObject({ kind: 'undone', left: [] });
      expect(readTree(root)).toEqual(before);
    }
  });

  test('is a tree that git itself finds whole', () => {
    const { root, folder, call } = openHistory();
    fill(join(root, 'many'), 300);
    writeFileSync(join(root, 'large'), Buffer.alloc(3_000_000, 'large '));
    call('1.1.0', () => fill(join(root, 'sub/deep'), 3));
    const store = findStore(folder);
    const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
    const git = ['--git-dir', join(folder, store), 'fsck', '--full', '--strict', '--no-dangling'];
    expect(execFileSync('git', git, { env, encoding: 'utf8', stdio: 'pipe' })).toBe('');
  });

  test('sees a change that leaves size and times as they were', () => {
    const [root, folder] = [createFolder(), createFolder()];
    const snapshot = new Snapshot({ root, store: new ObjectStore(folder), excluded: [] });
    const trees = Array.from({ length: 300 }, (_, at) => {
      writeFileSync(join(root, 'a'), String(at % 10));
      return snapshot.take();
    });
    expect(trees.filter((tree, at) => tree === trees[at - 1])).toEqual([]);
    // Where clocks are coarse, times alone would not have told.
    expect(snapshot.record.files.get('a')?.settled).toBe(false);
  });

  test('of many files is one file, which undo reads as well', () => {
    const root = createFolder();
    fill(join(root, 'many'), 300);
    writeFileSync(join(root, 'many/large'), Buffer.alloc(3_000_000, 'large '));
    const before = readTree(root);
    const first = openHistory({ root });
    first.call('1.1.0', () => rmSync(join(root, 'many'), { recursive: true }));
    first.history.close();
    const { history } = openHistory({ root, folder: first.folder });
    expect(readdirSync(join(first.folder, findStore(first.folder), 'objects/pack'))).toHaveLength(2);
    history.undo(undo);
    expect(readTree(root)).toEqual(before);
  });

  test('reads nothing twice, also after a restart', () => {
    const { history, root, folder, call } = openHistory();
    fill(root, 3);
    call('1.1.0', () => undefined);
    history.close();
    const store = findStore(folder);
    rmSync(join(folder, store, 'objects'), { recursive: true });
    mkdirSync(join(folder, store, 'objects'));
    const index = join(folder, store, 'index.json');
    // As if the files had been there for long when they were read.
    writeFileSync(index, readFileSync(index, 'utf8').replaceAll(/,0\]/g, ',1]'));
    const next = openHistory({ root, folder });
    next.call('2.1.0', () => undefined);
    expect(readdirSync(join(folder, store, 'objects'))).toEqual(['pack']);
  });

  test('that is damaged is noticed before anything is touched', () => {
    const { history, root, folder, call } = openHistory();
    fill(root, 2);
    call('1.1.0', () => fill(root, 0));
    call('2.1.0', () => ['f0', 'f1'].forEach((name) => writeFileSync(join(root, name), 'changed')));
    const store = findStore(folder);
    const objects = readdirSync(join(folder, store, 'objects'), { recursive: true, withFileTypes: true });
    for (const object of objects.filter((entry) => entry.isFile())) {
      const path = join(object.parentPath, object.name);
      const size = readFileSync(path).length;
      chmodSync(path, 0o600);
      // Trees of two entries are longer than the contents.
      if (size < 60) truncateSync(path, 3);
    }
    const now = readTree(root);
    expect(() => history.undo(undo)).toThrow(/^the snapshot lacks the blob [0-9a-f]{64}$/);
    expect(readTree(root)).toEqual(now);
  });
});

describe('what a snapshot does not keep', () => {
  test('is never taken for missing', () => {
    const { history, root, call } = openHistory({ limits });
    fill(join(root, 'node_modules/heavy'), 10);
    writeFileSync(join(root, 'large'), 'x'.repeat(1_000));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    const kept = readTree(root);
    call('1.1.0', () => writeFileSync(join(root, 'a'), '1'));
    expect(history.undo(undo)).toMatchObject({ kind: 'undone', restored: [join(root, 'a')], left: [] });
    expect(readTree(root)).toEqual(kept);
  });

  test('is named when the turn changed it', () => {
    const { history, root, call } = openHistory({ limits });
    fill(join(root, 'node_modules'), 10);
    writeFileSync(join(root, 'large'), 'x'.repeat(1_000));
    call('1.1.0', () => {
      writeFileSync(join(root, 'large'), 'y'.repeat(1_001));
      fill(join(root, 'node_modules'), 11);
    });
    expect(history.undo(undo)).toEqual({
      kind: 'undone',
      ordinal: 1,
      restored: [],
      left: ['large', 'node_modules'].map((name) => ({
        path: join(root, name),
        reason: 'its content was not kept',
      })),
    });
  });

  test('goes, when the turn made it, only by force', () => {
    const { history, root, call } = openHistory({ limits });
    call('1.1.0', () => fill(join(root, 'node_modules'), 10));
    expect(history.undo(undo)).toEqual({
      kind: 'refused',
      ordinal: 1,
      conflicts: [{ path: join(root, 'node_modules'), reason: 'it is too large to be kept' }],
    });
    history.undo({ ...undo, force: true });
    expect(readTree(root)).toEqual({});
  });

  test('is every repository, which undo leaves where it is', () => {
    const { history, root, call } = openHistory();
    call('1.1.0', () => {
      fill(join(root, 'clone/.git'), 1);
      fill(join(root, 'clone'), 1);
    });
    expect(history.undo(undo)).toMatchObject({ kind: 'undone', left: [{ path: join(root, 'clone') }] });
    expect(Object.keys(readTree(root))).toEqual(['clone', 'clone/.git', 'clone/.git/f0']);
  });

  test('is a workspace that is too large, and undo says so', () => {
    const { history, root, call } = openHistory({ limits: { ...limits, files: 5 } });
    fill(root, 6);
    expect(() => call('1.1.0', () => fill(root, 7))).toThrow(/has more than 5 files/);
    expect(history.undo(undo)).toEqual({
      kind: 'refused',
      ordinal: 1,
      conflicts: [
        {
          path: root,
          reason: `call 1.1.0: undo does not cover ${root}: it has more than 5 files; start the session in a smaller folder`,
        },
      ],
    });
  });
});
