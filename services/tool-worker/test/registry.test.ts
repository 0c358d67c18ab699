import { expect, test } from 'vitest';
import { toolSpecs } from '../src/index.ts';
import { openTestMachine } from './machines.ts';

const toNames = (profile: 'codex' | 'files' | 'minimal') =>
  toolSpecs.filter(({ profiles }) => profiles?.includes(profile) ?? true).map(({ name }) => name);

test('a machine offers exactly the tools that are described', () => {
  const { tools } = openTestMachine().machine.registration.catalog;
  const byName = toolSpecs.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  expect(tools).toEqual(byName);
});

test('the profiles offer what models know', () => {
  const codex = ['exec_command', 'write_stdin', 'apply_patch', 'view_image'];
  expect(toNames('codex')).toEqual(codex);
  expect(toNames('files')).toEqual([...codex, 'read_file', 'list_dir', 'grep_files', 'write_file', 'shell']);
  expect(toNames('minimal')).toEqual(['exec_command', 'apply_patch']);
});
