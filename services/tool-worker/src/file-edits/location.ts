// location.ts: where a path that a call names leads to, and whether the call may change something there.
// L1  Nothing outside the allowed folders is read or written, also not through a link.
// L2  What does not exist yet is judged by the deepest folder that does.
import { readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

export type Scope = {
  /** Absolute; relative paths start here. Allows nothing by itself. */
  cwd: string;
  /** Absolute; the folders that may be changed. They need not exist yet. */
  roots: readonly string[];
};

export type Location = {
  /** Absolute, as named. */
  path: string;
  /** The same place without links. */
  target: string;
};

/** As many as Linux follows. */
const linkLimit = 40;

/**
 * `self` names the last part of the path itself when it is a link, `content` what the link leads to.
 * @throws Error with a sentence for the model when the path is not allowed or cannot be resolved
 */
export function locate(scope: Scope, name: string, { of }: { of: 'content' | 'self' }): Location {
  const path = resolve(scope.cwd, name);
  const target = of === 'content' ? toReal(path) : join(toRealFolder(dirname(path)), basename(path));
  const allowed = [...new Set(scope.roots)];
  if (!allowed.some((root) => isInside(toReal(root), target))) {
    const through = target === path ? '' : ` (it leads to ${target})`;
    throw new Error(
      `${path} is outside the folders that may be changed${through}; name a file below ${allowed.join(' or ')}`,
    );
  }
  return { path, target };
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`);
}

/** Follows links, also the last one where it leads to nothing yet; a folder must not be a link to nothing. */
function toReal(path: string, links = 0): string {
  const found = toExisting(path);
  if (found !== undefined) return found;
  const parent = toRealFolder(dirname(path));
  const real = join(parent, basename(path));
  const leadsTo = readLink(real);
  if (leadsTo === undefined) return real;
  if (links >= linkLimit) throw new Error(`${path} cannot be resolved: too many symbolic links`);
  return toReal(resolve(parent, leadsTo), links + 1);
}

function toRealFolder(path: string): string {
  const found = toExisting(path);
  if (found === undefined) {
    const real = join(toRealFolder(dirname(path)), basename(path));
    if (readLink(real) === undefined) return real;
    throw new Error(`${path} is a link that leads to no folder`);
  }
  if (statSync(found, { throwIfNoEntry: false })?.isFile())
    throw new Error(`${path} is a file, not a folder`);
  return found;
}

function toExisting(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Undefined when the path is no link. */
function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
