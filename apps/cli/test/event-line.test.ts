import { expect, test } from 'vitest';
import { toEventLine } from '../src/view/event-line.ts';
import { toTable } from '../src/view/table.ts';
import { completed, starting, toEvents, toExecCall, toExecResult, toUsage } from './session-events.ts';

test('events are one line each: number, time, family and what they say', () => {
  const events = toEvents([
    starting,
    { type: 'step', step: 1, status: 'started' },
    { type: 'text', step: 1, text: 'one\ntwo' },
    toUsage(1, 5),
    toExecCall('1.1.0', 'ls -l'),
    toExecResult('1.1.0', { exitCode: 0, output: '' }),
    { type: 'status', status: 'error', error: { code: 'model.failed', message: 'No.' } },
    completed,
  ]);
  expect(events.map((event) => toEventLine(event))).toEqual([
    '   1  10:00:00.000  status           starting repair the test',
    '   2  10:00:00.100  step             1 started',
    '   3  10:00:00.200  text             one two',
    '   4  10:00:00.300  usage            1000 in, 5 out, context 1005',
    '   5  10:00:00.400  tool_call        1.1.0 ls -l',
    '   6  10:00:00.500  tool_result      1.1.0 ok · exit 0 · 1.2 s',
    '   7  10:00:00.600  status           error model.failed: No.',
    '   8  10:00:00.700  status           completed',
  ]);
});

test('a table has columns of equal width, or one sentence when it is empty', () => {
  expect(toTable(['A', 'BB'], [['aaa', 'b']], 'nothing')).toBe('A    BB\naaa  b\n');
  expect(toTable(['A', 'BB'], [], 'nothing')).toBe('nothing\n');
});
