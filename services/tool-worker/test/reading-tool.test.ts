import { Failure } from '@holdfast/failures';
import { describe, expect, test } from 'vitest';
import { createReadingTool, ToolError, type Reader } from '../src/reading-tool.ts';
import type { ToolRun } from '../src/tool.ts';
import { readFileTool } from '../src/tools/read-file/spec.ts';
import { testSessionId, testTurnId } from './strict-call-log.ts';

const call = {
  sessionId: testSessionId,
  turnId: testTurnId,
  callId: '1.1.0',
  modelCallId: 'm',
  tool: 'read_file',
  form: 'function' as const,
  input: '{"file_path":"a"}',
  context: { cwd: '/', approvalPolicy: 'never' as const },
};

async function read(reader: Reader<{ file_path: string }>, stop = new AbortController()) {
  const tool = createReadingTool(readFileTool, reader);
  const prepared = await tool.prepare(call);
  if (prepared.kind === 'refused') throw new Error(prepared.output.text);
  const run: ToolRun = { call, key: 'k', signal: stop.signal, emit: () => undefined };
  expect(await tool.resolve(run, { evidence: null, sameKernelBoot: false })).toBe('not-started');
  return prepared.run(run);
}

describe('a reading tool', () => {
  test('hands what it cannot do to the model', async () => {
    expect(await read(() => Promise.reject(new ToolError('there is none')))).toMatchObject({
      status: 'failed',
      text: 'read_file failed: there is none',
    });
    const denied = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES', syscall: 'open' });
    expect(await read(() => Promise.reject(denied))).toMatchObject({
      text: 'read_file failed: EACCES: permission denied',
    });
  });

  test('that was stopped says so, whatever it threw', async () => {
    const stop = new AbortController();
    const reader = () => {
      stop.abort('cancelled');
      return Promise.reject(new TypeError('x is not a function'));
    };
    expect(await read(reader, stop)).toMatchObject({
      status: 'aborted',
      text: expect.stringMatching(/^aborted by user after \d\.\ds$/),
    });
  });

  test('whose worker stops leaves the call to the next one', async () => {
    const stop = new AbortController();
    const reader = () => {
      stop.abort('shutdown');
      return Promise.reject(new Error('stopped'));
    };
    await expect(read(reader, stop)).rejects.toThrow('stopped');
  });

  test('that is broken ends the turn; a store that is away is tried again', async () => {
    await expect(read(() => Promise.reject(new TypeError('x is not a function')))).rejects.toMatchObject({
      code: 'tool.broken',
      class: 'fatal',
      detail: 'read_file',
    });
    const away = new Failure('store.unavailable');
    await expect(read(() => Promise.reject(away))).rejects.toBe(away);
  });
});
