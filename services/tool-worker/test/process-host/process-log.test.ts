import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ProcessLog, readLog } from '../../src/process-host/process-log.ts';
import type { ProcessExit } from '../../src/process-host/protocol.ts';
import { createFolder } from '../folders.ts';

const exit: ProcessExit = {
  end: 'exited',
  code: 0,
  signal: null,
  startedAt: 1,
  endedAt: 2,
  bytes: 3,
  lines: 1,
};

describe('the log of processes', () => {
  test('is the same for whoever reads it and for the next one who opens it', () => {
    const folder = createFolder();
    const log = new ProcessLog(folder);
    for (const key of ['running', 'ended', 'forgotten']) log.start({ key, startedAt: 1 });
    log.exit('ended', exit);
    log.forget('forgotten');
    const expected = [
      ['running', { key: 'running', startedAt: 1 }],
      ['ended', { key: 'ended', startedAt: 1, exit }],
    ];
    expect([...readLog(folder)]).toEqual(expected);
    const next = new ProcessLog(folder);
    expect(next.keys().map((key) => [key, next.get(key)])).toEqual(expected);
    expect(readFileSync(join(folder, 'processes.jsonl'), 'utf8').split('\n')).toHaveLength(4);
  });

  test('passes over a line that was torn by a crash, and goes on after it', () => {
    const folder = createFolder();
    new ProcessLog(folder).start({ key: 'a', startedAt: 1 });
    appendFileSync(join(folder, 'processes.jsonl'), '{"type":"exit","key":"a","ex');
    const log = new ProcessLog(folder);
    log.start({ key: 'b', startedAt: 2 });
    expect([...readLog(folder).values()]).toEqual([
      { key: 'a', startedAt: 1 },
      { key: 'b', startedAt: 2 },
    ]);
  });

  test('does not grow with what was forgotten', () => {
    const folder = createFolder();
    const log = new ProcessLog(folder);
    log.start({ key: 'kept', startedAt: 1 });
    for (let index = 0; index < 2_000; index += 1) {
      log.start({ key: String(index), startedAt: 1 });
      log.exit(String(index), exit);
      log.forget(String(index));
    }
    expect(readFileSync(join(folder, 'processes.jsonl'), 'utf8').split('\n').length).toBeLessThan(5_100);
    expect([...readLog(folder).keys()]).toEqual(['kept']);
  });
});
