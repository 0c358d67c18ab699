import { join } from 'node:path';
import { tryLock } from '@holdfast/kernel-lock';
import { describe, expect, onTestFinished, test } from 'vitest';
import { toShortOutput } from '../src/call-outputs.ts';
import { Journal, type JournalRow } from '../src/journal.ts';
import { createFolder } from './folders.ts';

const toRow = (key: string): JournalRow => ({
  key,
  sessionId: 's',
  callId: '1.1.0',
  tool: 't',
  fence: 3,
  bootId: 'b',
  kernelBoot: 'k',
  origin: { workflowId: 'w', runId: 'r', activityId: '1' },
  evidence: { files: [1, 'two', null] },
});

function openJournal(file: string): Journal {
  const journal = new Journal(file);
  onTestFinished(() => journal.close());
  return journal;
}

describe('the journal', () => {
  test('has a row on disk before `begin` returns, and its outcome before `settle` returns', () => {
    const file = join(createFolder(), 'journal.db');
    const writer = openJournal(file);
    writer.begin(toRow('a'));
    const reader = openJournal(file);
    expect(reader.read('a')).toEqual(toRow('a'));
    const output = toShortOutput('aborted', 'stopped');
    writer.settle('a', output);
    expect(reader.list()).toEqual([{ ...toRow('a'), output }]);
  });

  test('forgets a removed row at once, and on disk with the next row or at the end', () => {
    const file = join(createFolder(), 'journal.db');
    const journal = openJournal(file);
    for (const key of ['a', 'b']) journal.begin(toRow(key));
    journal.remove('a');
    expect([journal.read('a'), journal.list()]).toEqual([undefined, [toRow('b')]]);
    journal.begin(toRow('c'));
    expect(openJournal(file).list()).toEqual([toRow('b'), toRow('c')]);
    journal.remove('b');
    journal.close();
    expect(openJournal(file).list()).toEqual([toRow('c')]);
  });

  test('keeps no outcome of a call that has no row', () => {
    const journal = openJournal(join(createFolder(), 'journal.db'));
    journal.settle('a', toShortOutput('ok', ''));
    expect(journal.list()).toEqual([]);
  });
});

describe('a kernel lock', () => {
  test('is held by one at a time', () => {
    const file = join(createFolder(), 'lock');
    const lock = tryLock(file);
    expect([typeof lock, tryLock(file)]).toEqual(['object', undefined]);
    lock?.release();
    const next = tryLock(file);
    expect(typeof next).toBe('object');
    next?.release();
  });
});
