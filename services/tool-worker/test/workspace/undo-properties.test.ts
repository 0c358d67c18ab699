import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WorkspaceHistory } from '../../src/workspace/history.ts';
import { readTree, sessionId } from './trees.ts';

type Change =
  | { kind: 'write' | 'append'; path: string; content: Uint8Array }
  | { kind: 'folder' | 'remove'; path: string }
  | { kind: 'link' | 'rename'; path: string; to: string }
  | { kind: 'mode'; path: string; mode: number };

/** Bytes, one character each; few, so that changes meet. */
const name = fc.constantFrom('a', 'b', 'sub', 'a.txt', 'odd \n name', '\xff\xfe', 'ä', '-rf', '.hidden');
const anyPath = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    kind: fc.constant('write' as const),
    path: anyPath,
    content: fc.uint8Array({ maxLength: 40 }),
  }),
  fc.record({
    kind: fc.constant('append' as const),
    path: anyPath,
    content: fc.uint8Array({ minLength: 1, maxLength: 4 }),
  }),
  fc.record({ kind: fc.constant('folder' as const), path: anyPath }),
  fc.record({ kind: fc.constant('link' as const), path: anyPath, to: anyPath }),
  fc.record({ kind: fc.constant('remove' as const), path: anyPath }),
  fc.record({ kind: fc.constant('rename' as const), path: anyPath, to: anyPath }),
  fc.record({
    kind: fc.constant('mode' as const),
    path: anyPath,
    mode: fc.constantFrom(0o600, 0o644, 0o755, 0o500, 0o2750),
  }),
);

/** Does what can be done; the rest fails as it would in a shell. */
function apply(root: string, changes: readonly Change[]): void {
  const toBytes = (relative: string) => Buffer.from(join(root, relative), 'latin1');
  for (const one of changes) {
    const at = toBytes(one.path);
    try {
      if (one.kind === 'mode' && !lstatSync(at).isSymbolicLink()) chmodSync(at, one.mode);
      if (one.kind === 'remove') rmSync(at, { recursive: true });
      if (one.kind === 'mode' || one.kind === 'remove') continue;
      mkdirSync(toBytes(dirname(one.path)), { recursive: true });
      if (one.kind === 'folder') mkdirSync(at);
      if (one.kind === 'link') symlinkSync(Buffer.from(one.to, 'latin1'), at);
      if (one.kind === 'rename') renameSync(at, toBytes(one.to));
      // Writing through a link could leave the folder.
      if (existsSync(at) && lstatSync(at).isSymbolicLink()) continue;
      if (one.kind === 'write') writeFileSync(at, one.content);
      if (one.kind === 'append') appendFileSync(at, one.content);
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error)) throw error;
    }
  }
}

function inFolders<T>(work: (folders: { root: string; folder: string }) => T): T {
  const base = mkdtempSync(join(tmpdir(), 'hf-'));
  const folders = { root: join(base, 'root'), folder: join(base, 'history') };
  mkdirSync(folders.root);
  try {
    return work(folders);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

const toShown = (root: string, path: string) => join(root, Buffer.from(path, 'latin1').toString('utf8'));
const changes = fc.array(change, { maxLength: 15 });

describe('undo', () => {
  test('restores any tree after any changes, however the history was interrupted', () => {
    fc.assert(
      fc.property(
        changes,
        fc.array(changes, { minLength: 1, maxLength: 4 }),
        fc.nat(3),
        (first, turns, from) => {
          inFolders(({ root, folder }) => {
            apply(root, first);
            const ordinal = Math.min(from, turns.length - 1) + 1;
            const trees: Record<string, string>[] = [];
            for (const [at, work] of turns.entries()) {
              // Every turn is served by another process.
              const history = new WorkspaceHistory({ folder, excluded: [], path: '' });
              const call = { sessionId, turnId: `t${at}`, callId: `${at + 1}.1.0`, tool: 'x', cwd: root };
              trees.push(readTree(root));
              history.begin({ ...call, look: true });
              apply(root, work);
              history.end(call);
              history.close();
            }
            const history = new WorkspaceHistory({ folder, excluded: [], path: '' });
            expect(history.undo({ sessionId, ordinal, force: false })).toMatchObject({
              kind: 'undone',
              left: [],
            });
            history.close();
            expect(readTree(root)).toEqual(trees[ordinal - 1]);
          });
        },
      ),
      { numRuns: 60 },
    );
  });

  test('loses nothing that came from outside after the turn', () => {
    fc.assert(
      fc.property(changes, changes, changes, (first, turn, outside) => {
        inFolders(({ root, folder }) => {
          const history = new WorkspaceHistory({ folder, excluded: [], path: '' });
          apply(root, first);
          const before = readTree(root);
          const call = { sessionId, turnId: 't', callId: '1.1.0', tool: 'x', cwd: root };
          history.begin({ ...call, look: true });
          apply(root, turn);
          history.end(call);
          const after = readTree(root);
          apply(root, outside);
          const now = readTree(root);
          const result = history.undo({ sessionId, force: false });
          history.close();
          const undone = readTree(root);
          const left = result.kind === 'undone' ? result.left.map((one) => one.path) : [];
          const expected = Object.entries({ ...now, ...before }).filter(([at]) => {
            if (result.kind === 'refused' || after[at] === before[at]) return now[at] !== undefined;
            // A folder that holds something from outside stays.
            return before[at] !== undefined || left.includes(toShown(root, at));
          });
          const toState = (at: string) =>
            result.kind === 'refused' || after[at] === before[at] ? now[at] : (before[at] ?? now[at]);
          expect(undone).toEqual(Object.fromEntries(expected.map(([at]) => [at, toState(at)])));
        });
      }),
      { numRuns: 60 },
    );
  });
});
