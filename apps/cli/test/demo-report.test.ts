import { parseScript } from '@holdfast/model-script';
import type { EventBody } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { buggyLine, fixedLine } from '../src/demo/project.ts';
import { toReport, type DemoOutcome } from '../src/demo/report.ts';
import { commandNames, finalStep, toDemoScript } from '../src/demo/script.ts';
import { completed, starting, toEvents, toExecCall, toExecResult } from './session-events.ts';

const diff = `--- a/src/basket.js\n+++ b/src/basket.js\n@@ -2 +2 @@\n-${buggyLine}\n+${fixedLine}\n`;

const turn: EventBody[] = [
  starting,
  toExecCall('1.1.0', `echo '${commandNames.firstTests}' >> ../effects.log; ../node --test`),
  toExecResult('1.1.0', { exitCode: 1, output: 'fail 1\n' }),
  toExecCall('1.4.0', `echo '${commandNames.secondTests}' >> ../effects.log; ../node --test`),
  toExecResult('1.4.0', { exitCode: 0, output: 'pass 3\n' }),
  completed,
];

const events = toEvents(turn);
const killedAt = Date.parse(events[1]?.at ?? '');

const outcome: DemoOutcome = {
  events,
  effects: Object.values(commandNames),
  diff,
  kills: [
    {
      kill: { role: 'tool-worker:local', during: 'the first test run', at: killedAt, pid: 10 },
      recovery: { pid: 20, tookMs: 900 },
    },
    {
      kill: { role: 'orchestrator', during: 'the last answer', at: killedAt + 100, pid: 11 },
      recovery: { pid: 21, tookMs: 1_500 },
    },
  ],
};

describe('the report of the demo', () => {
  test('shows the change, the tests, what was killed and how often each command ran', () => {
    expect(toReport(outcome)).toEqual({
      broken: [],
      text: [
        'What changed:',
        '',
        diff.trim(),
        '',
        'The last test run:',
        '',
        '  pass 3',
        '',
        'KILLED (-9)        IN THE MIDDLE OF    BACK AFTER  NEXT EVENT AFTER',
        'tool-worker:local  the first test run  0.9 s       0.1 s',
        'orchestrator       the last answer     1.5 s       0.1 s',
        '',
        'COMMAND               RAN',
        'tests before the fix  1×',
        'read the code         1×',
        'tests after the fix   1×',
        '',
        'Every promise held.',
        '',
      ].join('\n'),
    });
  });

  const faults: [string, Partial<DemoOutcome>, string][] = [
    [
      'a command that ran twice',
      { effects: [...Object.values(commandNames), commandNames.readCode] },
      '"read the code" should have run once, but ran 2 times.',
    ],
    [
      'a turn that did not end well',
      { events: toEvents([...turn.slice(0, -1), { type: 'status', status: 'cancelled' }]) },
      'The turn should have ended completed, but its end is cancelled.',
    ],
    ['a turn that ended twice', { events: toEvents([...turn, completed]) }, 'The turn ended 2 times.'],
    [
      'a gap in the events',
      { events: events.filter(({ seq }) => seq !== 3) },
      'The events have a gap or a repetition.',
    ],
    ['a change that is missing', { diff: '' }, 'The patch is not in the code exactly once.'],
    [
      'a process that did not come back',
      { kills: outcome.kills.map(({ kill }) => ({ kill, recovery: undefined })) },
      'The orchestrator did not come back within a minute.',
    ],
    [
      'a kill that did not happen',
      { kills: outcome.kills.slice(1) },
      'Two processes were to be killed, but it was 1.',
    ],
    [
      'tests that fail',
      { events: toEvents(turn.toSpliced(4, 1, toExecResult('1.4.0', { exitCode: 1, output: 'fail 1' }))) },
      'The tests do not pass after the fix.',
    ],
    [
      'an outcome that is unknown',
      {
        events: toEvents(
          turn.toSpliced(2, 1, {
            type: 'tool_result',
            callId: '1.1.0',
            tool: 'exec_command',
            status: 'unknown',
            text: '',
            durationMs: 1,
          }),
        ),
      },
      '1 calls have no known result.',
    ],
  ];

  test.each(faults)('names %s', (_, fault, sentence) => {
    expect(toReport({ ...outcome, ...fault }).broken).toContain(sentence);
  });
});

describe('the script of the demo', () => {
  test('is a script whose last reply is the answer', () => {
    const { replies } = parseScript(toDemoScript(), 'demo');
    expect(replies).toHaveLength(finalStep);
    expect(replies.at(-1)?.output).toEqual([{ text: expect.stringContaining('all three tests pass') }]);
  });
});
