// file-path.ts: the paths that models write: absolute, from the session's folder, or from the home of the machine's user.
import { readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { ToolError } from '../reading-tool.ts';

/** The part of its letters that a name may differ in and still be meant; one letter always may. */
const likeness = 0.3;
const suggestionLimit = 3;

/** Absolute; `~` is the home folder, everything else that is relative starts at `cwd`. */
export function toAbsolutePath(path: string, cwd: string): string {
  if (path === '~') return homedir();
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(cwd, path);
}

/** @throws ToolError when there is no such file or folder, with the names that may have been meant */
export function assertExists(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })) return;
  const { folder, missing } = findDeepestFolder(path);
  const names = suggestNames(missing, readNames(folder));
  const hint =
    names.length === 0
      ? `the deepest folder that exists is ${folder}`
      : `did you mean ${names.map((name) => join(folder, name)).join(' or ')}?`;
  throw new ToolError(`there is no ${path}; ${hint}`);
}

function findDeepestFolder(path: string): { folder: string; missing: string } {
  for (let child = path; ; child = dirname(child)) {
    const folder = dirname(child);
    if (folder === child || statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      return { folder, missing: basename(child) };
  }
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The most alike names, best first; names that differ in case or extension only are alike, too. */
function suggestNames(wanted: string, names: readonly string[]): string[] {
  return names
    .map((name) => ({ name, distance: toDistance(wanted.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => {
      const longest = Math.max(wanted.length, name.length);
      const isAlike = distance < longest && distance <= Math.max(1, Math.floor(longest * likeness));
      return isAlike || toStem(name) === toStem(wanted);
    })
    .toSorted((one, other) => one.distance - other.distance || (one.name < other.name ? -1 : 1))
    .slice(0, suggestionLimit)
    .map(({ name }) => name);
}

function toStem(name: string): string {
  return name.toLowerCase().replace(/(?<=.)\.[^.]*$/, '');
}

/** Letters to insert, delete, replace or swap with their neighbour to get from one to the other. */
function toDistance(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_value, index) => index)];
  const read = (at: number, to: number) => rows[at]?.[to] ?? 0;
  for (let at = 1; at <= one.length; at += 1) {
    const row = [at];
    rows.push(row);
    for (let to = 1; to <= other.length; to += 1) {
      const replaced = read(at - 1, to - 1) + (one[at - 1] === other[to - 1] ? 0 : 1);
      const isSwap = to > 1 && one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1];
      const swapped = isSwap ? read(at - 2, to - 2) + 1 : replaced;
      row.push(Math.min(replaced, swapped, read(at - 1, to) + 1, read(at, to - 1) + 1));
    }
  }
  return read(one.length, other.length);
}
