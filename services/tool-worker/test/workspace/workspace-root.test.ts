import { mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findRoot } from '../../src/workspace/workspace-root.ts';
import { createFolder } from '../folders.ts';

describe('the workspace of a session', () => {
  const make = (...names: string[]) => {
    const folder = join(realpathSync(createFolder()), ...names);
    mkdirSync(folder, { recursive: true });
    return folder;
  };

  test('is the repository around its folder, or the folder itself', () => {
    const home = make();
    const folder = make('repository', 'deep');
    expect(findRoot(folder, home)).toBe(folder);
    mkdirSync(join(dirname(folder), '.git'));
    expect(findRoot(folder, home)).toBe(dirname(folder));
  });

  test('is a project in a home, but never the home or a folder above it, also when that is a repository', () => {
    const home = make('home', 'person');
    const project = join(home, 'project');
    mkdirSync(project);
    mkdirSync(join(home, '.git'));
    expect(findRoot(project, home)).toBe(project);
    expect([home, dirname(home), '/'].map((folder) => findRoot(folder, home))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('is none where there is no such folder', () => {
    expect(findRoot(join(make(), 'gone'), make())).toBeUndefined();
  });
});
