import { expect, test } from 'vitest';
import { toTerminalTable } from '../src/commands/terminals.ts';

test('background commands are shown with their number, state, beginning and command', () => {
  const startedAt = '2026-11-21T10:00:01.234Z';
  const table = toTerminalTable([
    { id: 1234, command: 'npm run dev\n', tty: false, startedAt, state: 'running' },
    { id: 99_999, command: 'make', tty: true, startedAt, state: 'exited', exitCode: 2 },
  ]);
  expect(table.split('\n').map((line) => line.trimEnd())).toEqual([
    'ID     STATE     SINCE                COMMAND',
    '1234   running   2026-11-21 10:00:01  npm run dev',
    '99999  exited 2  2026-11-21 10:00:01  make',
    '',
  ]);
  expect(toTerminalTable([])).toBe('Nothing runs in the background of this session.\n');
});
