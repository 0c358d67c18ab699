import type { EventBody, SessionEvent } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { createHumanView } from '../src/view/human-view.ts';
import { createPaint } from '../src/view/paint.ts';
import {
  completed,
  sessionId,
  starting,
  toEvents,
  toExecCall,
  toExecResult,
  toUsage,
  turnId,
} from './session-events.ts';

const plain = createPaint({ color: false });

function show(events: readonly SessionEvent[], options: { live?: boolean; showPrompt?: boolean } = {}) {
  const view = createHumanView({ sessionId, paint: plain, live: false, ...options });
  const lines = events.flatMap((event) => view.event(event));
  return { lines, answer: view.answer(), status: view.status() };
}

const patchInput =
  '*** Begin Patch\n*** Update File: src/a.js\n@@\n-a\n+b\n*** Add File: b.js\n+c\n*** End Patch';

const wholeTurn: EventBody[] = [
  starting,
  { type: 'step', step: 1, status: 'started' },
  { type: 'reasoning', step: 1, text: 'Look first.\nThen act.' },
  { type: 'text', step: 1, text: 'I run the tests.' },
  toUsage(1, 20),
  toExecCall('1.1.0', 'npm test'),
  toExecResult('1.1.0', { exitCode: 1, output: 'not ok 1\n\n# fail 1\n' }),
  { type: 'step', step: 1, status: 'completed' },
  { type: 'step', step: 2, status: 'started' },
  toUsage(2, 30),
  { type: 'tool_call', step: 2, callId: '1.2.0', tool: 'apply_patch', input: patchInput },
  {
    type: 'tool_result',
    callId: '1.2.0',
    tool: 'apply_patch',
    status: 'ok',
    text: 'Success.',
    durationMs: 4,
    changes: [
      { path: 'src/a.js', kind: 'update' },
      { path: 'b.js', kind: 'add' },
    ],
  },
  { type: 'step', step: 2, status: 'completed' },
  { type: 'step', step: 3, status: 'started' },
  { type: 'text', step: 3, text: 'It is repaired.' },
  toUsage(3, 5),
  { type: 'step', step: 3, status: 'completed' },
  completed,
];

describe('the human view of a turn', () => {
  test('shows text before calls, calls with their results, and sums up; the answer is apart', () => {
    expect(show(toEvents(wholeTurn))).toEqual({
      lines: [
        '∴ Look first. Then act.',
        'I run the tests.',
        '▸ npm test',
        '✘ npm test · exit 1 · 1.2 s',
        '  │ not ok 1',
        '  │ # fail 1',
        '▸ patch src/a.js, b.js',
        '✔ patch M src/a.js, A b.js · done · 0.0 s',
        'tokens: 3000 in (2700 cached), 55 out · 1.7 s',
      ],
      answer: 'It is repaired.',
      status: 'thinking…',
    });
  });

  test('does not say that a call started where a live line shows it', () => {
    const { lines } = show(toEvents(wholeTurn), { live: true });
    expect(lines.filter((line) => line.startsWith('▸'))).toEqual([]);
  });

  test('says what was asked to those who did not ask', () => {
    expect(show(toEvents([starting]), { showPrompt: true }).lines).toEqual(['turn 1: repair the test']);
  });

  const ends: [string, EventBody, string[]][] = [
    [
      'an error',
      { type: 'status', status: 'error', error: { code: 'model.failed', message: 'No.' } },
      ['half', '✘ No.'],
    ],
    ['a cancel', { type: 'status', status: 'cancelled' }, ['half', '■ interrupted']],
  ];

  test.each(ends)('shows unfinished text as progress at %s, and no answer', (_, end, expected) => {
    const { lines, answer } = show(toEvents([starting, { type: 'text', step: 1, text: 'half' }, end]));
    expect({ lines, answer }).toEqual({ lines: expected, answer: '' });
  });

  test('says how an approval is answered', () => {
    const call = { approvalId: 'ap_1.1.0', callId: '1.1.0' };
    const { lines } = show(
      toEvents([
        { type: 'approval', status: 'requested', ...call, tool: 'exec_command', question: 'Run `rm x`?' },
        { type: 'status', status: 'waiting', reason: 'approval', detail: 'Run `rm x`?' },
        { type: 'approval', status: 'resolved', ...call, decision: 'decline' },
      ]),
    );
    expect(lines).toEqual([
      '? Run `rm x`?',
      `  answer with: holdfast approve ${sessionId} ap_1.1.0 [--decline]`,
      '▸ declined',
    ]);
  });

  test('tells waiting, retries, steers, plans and progress', () => {
    const { lines } = show(
      toEvents([
        { type: 'status', status: 'waiting', reason: 'machine', detail: 'gpu-1 is offline' },
        { type: 'context', change: 'machine-online', detail: 'gpu-1 is back' },
        {
          type: 'error',
          error: { code: 'model.unavailable', message: 'Asked again.' },
          willRetry: true,
          attempt: 2,
        },
        { type: 'message_injected', inputId: 'i2', text: 'faster' },
        {
          type: 'plan',
          plan: [
            { step: 'look', status: 'completed' },
            { step: 'act', status: 'pending' },
          ],
        },
        { type: 'mcp_progress', callId: '1.1.0', progress: 1, total: 2, message: 'half way' },
        { type: 'diff', diff: 'a\nb' },
      ]),
    );
    expect(lines).toEqual([
      '⏸ waiting: gpu-1 is offline',
      '▸ gpu-1 is back',
      '↻ Asked again. (attempt 2)',
      '+ faster',
      '☑ look',
      '☐ act',
      '  1/2 half way',
    ]);
  });

  test('says in the live line that the turn waits, until something comes', () => {
    const view = createHumanView({ sessionId, paint: plain, live: true });
    const detail = 'The model endpoint cannot be reached.';
    for (const event of toEvents([{ type: 'status', status: 'waiting', reason: 'network', detail }]))
      expect(view.event(event)).toEqual([`⏸ waiting: ${detail}`]);
    expect(view.status()).toBe('waiting…');
    view.delta({ sessionId, turnId: 't', attempt: 2, kind: 'text', step: 1, text: 'Here' });
    expect(view.status()).toBe('… Here');
  });

  test('tells an unknown outcome with what is known of it', () => {
    const { lines } = show(
      toEvents([
        toExecCall('1.1.0', 'deploy'),
        {
          type: 'tool_result',
          callId: '1.1.0',
          tool: 'exec_command',
          status: 'unknown',
          text: 'It is not known whether this call took effect.',
          durationMs: 500,
        },
      ]),
    );
    expect(lines).toEqual([
      '▸ deploy',
      '? deploy · outcome unknown · 0.5 s',
      '  │ It is not known whether this call took effect.',
    ]);
  });

  test('lets nothing that a model or a tool wrote control the terminal', () => {
    const hostile = '\u001B]0;gone\u0007\u001B[2Jx\r\u0008y';
    const { lines } = show(
      toEvents([
        { type: 'text', step: 1, text: hostile },
        toExecCall('1.1.0', hostile),
        toExecResult('1.1.0', { exitCode: 1, output: hostile }),
        { type: 'reasoning', step: 1, text: hostile },
      ]),
    );
    expect(lines.join('\n')).not.toMatch(/[^\P{Cc}\n]/u);
  });
});

describe('the live line', () => {
  const delta = (attempt: number, text: string) =>
    ({ sessionId, turnId, attempt, text, kind: 'text', step: 1 }) as const;

  test('shows the end of the text that streams', () => {
    const view = createHumanView({ sessionId, paint: plain, live: true });
    view.delta(delta(1, 'Now I '));
    view.delta(delta(1, 'look.'));
    expect(view.status()).toBe('… Now I look.');
  });

  test('forgets the text of an attempt when a newer one streams, and ignores it when it comes late', () => {
    const view = createHumanView({ sessionId, paint: plain, live: true });
    view.delta(delta(1, 'old'));
    view.delta(delta(2, 'new'));
    view.delta(delta(1, ' late'));
    expect(view.status()).toBe('… new');
  });

  test('shows the calls that run and the last line of their output', () => {
    const view = createHumanView({ sessionId, paint: plain, live: true });
    for (const event of toEvents([toExecCall('1.1.0', 'make'), toExecCall('1.1.1', 'ls')])) view.event(event);
    expect(view.status()).toBe('▸ make ▸ ls');
    view.delta({ sessionId, turnId, attempt: 1, text: 'cc a.c\ncc b.c\n', kind: 'output', callId: '1.1.0' });
    expect(view.status()).toBe('▸ make ▸ ls │ cc b.c');
  });
});
