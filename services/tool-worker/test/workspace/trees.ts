// trees.ts: whole folders as values that can be compared, down to the bytes of the names.
import { hash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { WorkspaceHistory, type WorkspaceHistoryOptions } from '../../src/workspace/history.ts';
import { createFolder } from '../folders.ts';

/** Type, mode and content of everything below the folder, by path with one character a byte. */
export function readTree(folder: string, prefix = ''): Record<string, string> {
  const tree: Record<string, string> = {};
  const names = readdirSync(Buffer.from(join(folder, prefix), 'latin1'), { encoding: 'latin1' });
  for (const name of names.toSorted()) {
    const path = prefix + name;
    const full = Buffer.from(join(folder, path), 'latin1');
    const stat = lstatSync(full);
    const mode = stat.mode.toString(8);
    if (stat.isDirectory()) Object.assign(tree, { [path]: mode }, readTree(folder, `${path}/`));
    else if (stat.isSymbolicLink()) tree[path] = `${mode} ${readlinkSync(full, { encoding: 'latin1' })}`;
    else if (stat.isFile()) tree[path] = `${mode} ${stat.size} ${hash('sha256', readFileSync(full))}`;
    else tree[path] = mode;
  }
  return tree;
}

export const sessionId = '0198f3a0-1111-7222-8333-444455556666';
export const otherSession = '0198f3a0-1111-7222-8333-777777777777';

export type TestHistory = {
  history: WorkspaceHistory;
  root: string;
  folder: string;
  /** One call that does `work`; `1.1.0` is the first call of the first step of the first turn. */
  call: (callId: string, work: () => void, session?: string) => void;
};

/** A history in a folder of its own, closed when the test ends. */
export function openHistory(given: Partial<WorkspaceHistoryOptions> & { root?: string } = {}): TestHistory {
  const { root = createFolder(), folder = createFolder(), ...options } = given;
  const path = process.env['PATH'] ?? '';
  const history = new WorkspaceHistory({ folder, excluded: [], path, ...options });
  onTestFinished(() => history.close());
  const call = (callId: string, work: () => void, session = sessionId) => {
    const start = { sessionId: session, turnId: `turn-${callId}`, callId, tool: 'exec_command', cwd: root };
    history.begin({ ...start, look: true });
    work();
    history.end(start);
  };
  return { history, root, folder, call };
}
