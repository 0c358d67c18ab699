import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { never, openTestMachine } from './machines.ts';

const lines = Array.from({ length: 300 }, (_value, index) => `${index + 1}\n`).join('');

async function callInLines(tool: string, input: object) {
  const { machine, store, workspace } = openTestMachine();
  writeFileSync(join(workspace, 'a.txt'), lines);
  const call = {
    callId: '1.1.0',
    tool,
    input: JSON.stringify(input),
    cwd: workspace,
    outputStyle: 'lines',
  } as const;
  await machine.calls.run(store.add(call), never);
  return store.outputOf('1.1.0');
}

test('a model that reads by lines gets the first and the last 128 lines of a command, and the whole is kept', async () => {
  const output = await callInLines('exec_command', { cmd: 'cat a.txt' });
  const [, text = ''] = output?.text.split('\nOutput:\n') ?? [];
  expect(text.split('\n').slice(0, 3)).toEqual(['Total output lines: 300', '', '1']);
  expect(text).toContain('\n128\n[... omitted 44 of 300 lines ...]\n\n173\n');
  expect(output?.full?.size).toBe(lines.length);
});

test('a model that reads by lines is handed a file in pages of 256', async () => {
  const output = await callInLines('read_file', { file_path: 'a.txt' });
  expect(output?.text.split('\n').slice(-2)).toEqual([
    'L256: 256',
    'Showing lines 1–256 of 300. Ask again with offset 257 for more.',
  ]);
});
