// tree.ts: a folder as data.
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

export type TreeEntry =
  | { kind: 'file'; bytes: Buffer }
  | { kind: 'folder' }
  | { kind: 'link'; target: string };
/** By the path below the root. */
export type Tree = Record<string, TreeEntry>;

/** The root must not exist, its parent must. */
export function writeTree(root: string, tree: Tree): void {
  mkdirSync(root);
  for (const [name, entry] of Object.entries(tree)) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    if (entry.kind === 'folder') mkdirSync(path, { recursive: true });
    else if (entry.kind === 'link') symlinkSync(entry.target, path);
    else writeFileSync(path, entry.bytes);
  }
}

/** Bytes as text of one character a byte, so that differences can be read. */
export function readTree(root: string): Record<string, string> {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted();
  return Object.fromEntries(names.map((name) => [name, readEntry(join(root, name))]));
}

function readEntry(path: string): string {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return `link to ${readlinkSync(path)}`;
  return stat.isDirectory() ? 'folder' : `file ${JSON.stringify(readFileSync(path, 'latin1'))}`;
}
