import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ToolRun } from '../../src/tool.ts';
import { createWriteFile } from '../../src/tools/write-file/write-file.ts';
import { createFolder } from '../folders.ts';
import { openTestMachine } from '../machines.ts';
import { testSessionId, testTurnId } from '../strict-call-log.ts';
import { callTool } from './calls.ts';

describe('write_file', () => {
  test('makes a file and the folders above it, and reports the change', async () => {
    const bench = openTestMachine();
    const path = join(bench.workspace, 'deep/er/a.txt');
    expect(
      await callTool(bench, 'write_file', { file_path: 'deep/er/a.txt', content: 'zwölf\n' }),
    ).toMatchObject({
      status: 'ok',
      text: `Created ${path} (7 bytes).`,
      changes: [{ path, kind: 'add' }],
    });
    expect(readFileSync(path, 'utf8')).toBe('zwölf\n');
    expect(readdirSync(join(bench.workspace, 'deep/er'))).toEqual(['a.txt']);
  });

  test('replaces a file, keeps its mode and writes through a link', async () => {
    const bench = openTestMachine();
    const path = join(bench.workspace, 'run.sh');
    writeFileSync(path, 'old');
    chmodSync(path, 0o750);
    symlinkSync('run.sh', join(bench.workspace, 'link'));
    expect(await callTool(bench, 'write_file', { file_path: 'link', content: '' })).toMatchObject({
      text: `Replaced ${bench.workspace}/link (0 bytes).`,
      changes: [{ path: join(bench.workspace, 'link'), kind: 'update' }],
    });
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['', 0o750]);
  });

  test('refuses a folder as its file, and says that nothing was changed when it cannot write', async () => {
    const bench = openTestMachine();
    mkdirSync(join(bench.workspace, 'sub'));
    writeFileSync(join(bench.workspace, 'file'), 'x');
    expect((await callTool(bench, 'write_file', { file_path: 'sub', content: '' })).text).toBe(
      `write_file failed: ${bench.workspace}/sub is not a file; name another path`,
    );
    expect((await callTool(bench, 'write_file', { file_path: 'file/x', content: '' })).text).toMatch(
      /^write_file failed: .*\/file is a file, not a folder$/,
    );
    expect((await callTool(bench, 'write_file', { file_path: 'a' })).text).toMatch(
      /^failed to parse function arguments: content: .*\. A valid call: \{"file_path":"notes\/todo\.md",/,
    );
  });
});

describe('a write whose worker died', () => {
  const setUp = async () => {
    const folder = createFolder();
    const path = join(folder, 'a.txt');
    writeFileSync(path, 'before');
    const tool = createWriteFile({ workspace: folder });
    const call = {
      sessionId: testSessionId,
      turnId: testTurnId,
      callId: '1.1.0',
      modelCallId: 'm',
      tool: 'write_file',
      form: 'function' as const,
      input: JSON.stringify({ file_path: path, content: 'after' }),
      context: { cwd: folder, approvalPolicy: 'never' as const },
    };
    const prepared = await tool.prepare(call);
    if (prepared.kind === 'refused') throw new Error(prepared.output.text);
    const run: ToolRun = { call, key: 'k', signal: new AbortController().signal, emit: () => undefined };
    const traces = { evidence: JSON.parse(JSON.stringify(prepared.evidence)), sameKernelBoot: true };
    return { path, resolve: () => tool.resolve(run, traces) };
  };

  test('had not begun when the file is as before', async () => {
    const { resolve } = await setUp();
    expect(await resolve()).toBe('not-started');
  });

  test('is done when the file is as it was to be', async () => {
    const { path, resolve } = await setUp();
    writeFileSync(path, 'after');
    expect(await resolve()).toMatchObject({ status: 'ok', changes: [{ path, kind: 'update' }] });
  });

  test('is unknown when somebody else has changed the file', async () => {
    const { path, resolve } = await setUp();
    writeFileSync(path, 'other');
    expect(await resolve()).toMatchObject({ status: 'unknown', text: expect.stringContaining(path) });
  });
});
