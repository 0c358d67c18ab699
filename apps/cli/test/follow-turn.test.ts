import type { EventBody, SessionEvent } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { followTurn, type WatchedSession } from '../src/follow-turn.ts';
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
import { createTestTerminal } from './test-terminal.ts';

const answer: EventBody[] = [{ type: 'text', step: 1, text: 'It is\nrepaired.' }, toUsage(1, 5)];
const cancelled: EventBody = { type: 'status', status: 'cancelled' };
const failed: EventBody = {
  type: 'status',
  status: 'error',
  error: { code: 'model.failed', message: 'No.' },
};

/** Plays the given events, then stays open; an interrupt ends the turn as the store does. */
function createSession(
  events: readonly SessionEvent[],
): WatchedSession & { interrupts: number; asked: object[] } {
  const interrupted = Promise.withResolvers<void>();
  const session = {
    sessionId,
    interrupts: 0,
    asked: [] as object[],
    interrupt: async () => {
      session.interrupts += 1;
      interrupted.resolve();
    },
    async *events({ signal, after }: { signal: AbortSignal; after?: number }) {
      session.asked.push({ after });
      yield* events;
      const left = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      await Promise.race([left, interrupted.promise]);
      if (!signal.aborted) yield* toEvents([cancelled], { after: events.length });
    },
  };
  return session;
}

const human = { json: false, detachable: true, turnId };

describe('following a turn', () => {
  test('prints the answer alone on stdout and ends with 0', async () => {
    const terminal = createTestTerminal();
    const exitCode = await followTurn(
      terminal,
      createSession(toEvents([starting, ...answer, completed])),
      human,
    );
    expect({ exitCode, ...terminal.text }).toEqual({
      exitCode: 0,
      stdout: 'It is\nrepaired.\n',
      stderr: 'tokens: 1000 in (900 cached), 5 out · 0.3 s\n',
    });
  });

  const ends: [string, EventBody, number, string][] = [
    ['an error', failed, 1, '✘ No.\n'],
    ['a cancel by somebody else', cancelled, 130, '■ interrupted\n'],
  ];

  test.each(ends)('prints no answer after %s', async (_, end, exitCode, stderr) => {
    const terminal = createTestTerminal();
    const session = createSession(toEvents([starting, end]));
    expect({ exitCode: await followTurn(terminal, session, human), ...terminal.text }).toEqual({
      exitCode,
      stdout: '',
      stderr,
    });
  });

  test('prints JSON lines in the vocabulary of Codex when asked to', async () => {
    const terminal = createTestTerminal();
    const events = [
      starting,
      toExecCall('1.1.0', 'ls'),
      toExecResult('1.1.0', { exitCode: 0, output: 'a\n' }),
      ...answer,
    ];
    await followTurn(terminal, createSession(toEvents([...events, completed])), { ...human, json: true });
    const lines = terminal.text.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines.map(({ type }) => type)).toEqual([
      'thread.started',
      'turn.started',
      'item.started',
      'item.completed',
      'item.completed',
      'turn.completed',
    ]);
    expect(terminal.text.stderr).toBe('');
  });

  test('shows nothing of other turns', async () => {
    const before = toEvents([starting, { type: 'text', step: 1, text: 'old' }, completed], {
      turnId: 'other',
    });
    const own = toEvents([starting, ...answer, completed], { after: before.length });
    const terminal = createTestTerminal();
    await followTurn(terminal, createSession([...before, ...own]), human);
    expect(terminal.text.stdout).toBe('It is\nrepaired.\n');
  });

  test('takes the first turn that begins when none is named, after the events that are known', async () => {
    const terminal = createTestTerminal();
    const session = createSession(toEvents([starting, ...answer, completed], { after: 7 }));
    expect(await followTurn(terminal, session, { json: false, detachable: true, after: 7 })).toBe(0);
    expect(session.asked).toEqual([{ after: 7 }]);
  });

  test('shows what runs in a live line that is gone at the end', async () => {
    const terminal = createTestTerminal({ live: true, env: { NO_COLOR: '1' } });
    await followTurn(terminal, createSession(toEvents([starting, ...answer, completed])), human);
    expect(terminal.text.stderr).toBe('thinking…\r\u001B[Ktokens: 1000 in (900 cached), 5 out · 0.3 s\n');
  });
});

describe('Ctrl-C while a turn is followed', () => {
  /** Follows a turn that does not end by itself and presses Ctrl-C when its first event is shown. */
  async function followAndPress(options: { detachable: boolean; presses: number; detachPauseMs: number }) {
    const terminal = createTestTerminal();
    const session = createSession(toEvents([starting, toExecCall('1.1.0', 'sleep 60')]));
    let pressed = false;
    const pressing = {
      ...terminal,
      stderr: {
        ...terminal.stderr,
        write: (text: string) => {
          terminal.stderr.write(text);
          if (pressed) return;
          pressed = true;
          for (let press = 0; press < options.presses; press += 1) terminal.pressInterrupt();
        },
      },
    };
    const exitCode = await followTurn(pressing, session, { ...human, ...options });
    return { exitCode, interrupts: session.interrupts, stderr: terminal.text.stderr, terminal };
  }

  test('once leaves the turn running, says how to come back and ends with 0', async () => {
    const { exitCode, interrupts, stderr } = await followAndPress({
      detachable: true,
      presses: 1,
      detachPauseMs: 1,
    });
    expect({ exitCode, interrupts }).toEqual({ exitCode: 0, interrupts: 0 });
    expect(stderr).toContain(`holdfast attach ${sessionId}`);
  });

  test('twice interrupts the turn and ends with 130', async () => {
    const { exitCode, interrupts } = await followAndPress({
      detachable: true,
      presses: 2,
      detachPauseMs: 60_000,
    });
    expect({ exitCode, interrupts }).toEqual({ exitCode: 130, interrupts: 1 });
  });

  test('once interrupts a turn that would end with this process', async () => {
    const { exitCode, interrupts } = await followAndPress({
      detachable: false,
      presses: 1,
      detachPauseMs: 1,
    });
    expect({ exitCode, interrupts }).toEqual({ exitCode: 130, interrupts: 1 });
  });

  test('is the business of the shell again when the turn has ended', async () => {
    const { terminal } = await followAndPress({ detachable: true, presses: 2, detachPauseMs: 60_000 });
    expect(terminal.pressInterrupt()).toBe(false);
  });
});
