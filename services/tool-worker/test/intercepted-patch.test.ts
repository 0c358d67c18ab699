import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { callTool } from './calls.ts';
import { never, openTestMachine } from './machines.ts';

const toCommand = (patch: string, before = '') =>
  `${before}apply_patch <<'EOF'\n*** Begin Patch\n${patch}\n*** End Patch\nEOF\n`;

describe('a command that is nothing but a patch', () => {
  test('is applied as one, in the folder it names, and told in both layouts', async () => {
    const bench = openTestMachine();
    mkdirSync(join(bench.workspace, 'a', 'b'), { recursive: true });
    const cmd = toCommand('*** Add File: new\n+text', 'cd b && ');
    const { output, text } = await callTool(bench, 'exec_command', { cmd, workdir: 'a' });
    expect(text).toMatch(
      /^Wall time: 0\.0000 seconds\nOutput:\nExit code: 0\nWall time: [\d.]+ seconds\nOutput:\nSuccess\. Updated the following files:\nA .*new\n$/,
    );
    expect(output).toMatchObject({ status: 'ok', changes: [{ kind: 'add' }] });
    expect(readFileSync(join(bench.workspace, 'a', 'b', 'new'), 'utf8')).toBe('text\n');
  });

  test('that does not apply says why, and changes nothing', async () => {
    const bench = openTestMachine();
    writeFileSync(join(bench.workspace, 'file'), 'one\n');
    const cmd = toCommand('*** Update File: file\n@@\n-two\n+three');
    const { status, text } = await callTool(bench, 'exec_command', { cmd });
    expect([status, text.startsWith('apply_patch verification failed: ')]).toEqual(['failed', true]);
    expect(readFileSync(join(bench.workspace, 'file'), 'utf8')).toBe('one\n');
  });

  test('is asked for as one', async () => {
    const bench = openTestMachine();
    const input = JSON.stringify({ cmd: toCommand('*** Add File: new\n+text') });
    const request = bench.store.add({
      callId: '9.1.0',
      tool: 'exec_command',
      input,
      cwd: bench.workspace,
      approvalPolicy: 'always',
    });
    await bench.machine.calls.run(request, never);
    expect(bench.store.questions).toEqual(['apply_patch: A new']);
    expect(existsSync(join(bench.workspace, 'new'))).toBe(false);
  });

  test('whose commit failed is not applied twice', async () => {
    const bench = openTestMachine();
    const file = join(bench.workspace, 'file');
    writeFileSync(file, 'a\n');
    const input = JSON.stringify({ cmd: toCommand('*** Update File: file\n@@\n a\n+b') });
    const request = bench.store.add({ callId: '9.2.0', tool: 'exec_command', input, cwd: bench.workspace });
    bench.store.refuseFinish = new Error('the store went away');
    await expect(bench.machine.calls.run(request, never)).rejects.toThrow('the store went away');
    await bench.machine.calls.run(request, never);
    expect([bench.store.outputOf('9.2.0')?.status, readFileSync(file, 'utf8')]).toEqual(['ok', 'a\nb\n']);
  });

  test('with anything else beside it is left to the shell', async () => {
    const bench = openTestMachine();
    const cmd = `${toCommand('*** Add File: new\n+text')}echo after`;
    const { text } = await callTool(bench, 'exec_command', { cmd });
    expect(text).toMatch(/^Chunk ID: /);
    expect(text).toContain('\nafter\n');
  });
});
