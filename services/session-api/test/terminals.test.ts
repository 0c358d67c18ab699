import { randomUUID } from 'node:crypto';
import type { MachineRequest } from '@holdfast/events';
import type { BackgroundTerminal, UndoResult } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { openDoor, type Door } from './door.ts';

const terminal: BackgroundTerminal = {
  id: 1234,
  command: 'npm run dev',
  tty: false,
  startedAt: '2026-11-21T10:00:00.000Z',
  state: 'running',
};

async function openSession(door: Door) {
  const sessionId = randomUUID();
  const settings = { cwd: '/w', machine: 'laptop', model: { name: 'm' } };
  const { settings: made } = await door.client.createSession({ sessionId, settings });
  return { session: door.client.open(sessionId), sessionId, machineId: made.machineId };
}

/** Plays the machine, which knows one terminal. */
function answer(request: MachineRequest) {
  const isKnown = request.op !== 'kill' || request.id === terminal.id;
  const ended = { ...terminal, state: 'killed' as const, exitCode: 143 };
  return { terminals: isKnown ? [request.op === 'list' ? terminal : ended] : [] };
}

describe('background terminals', () => {
  test('are listed, killed and cleaned by the machine of their session', async () => {
    await using door = await openDoor();
    const { session, sessionId, machineId } = await openSession(door);
    door.bus.machine = answer;
    expect(await session.listTerminals()).toEqual([terminal]);
    expect(await session.killTerminal(1234)).toMatchObject({ state: 'killed', exitCode: 143 });
    expect(await session.cleanTerminals()).toMatchObject([{ id: 1234, state: 'killed' }]);
    expect(door.bus.asked).toEqual([
      { machineId, request: { op: 'list', sessionId } },
      { machineId, request: { op: 'kill', sessionId, id: 1234 } },
      { machineId, request: { op: 'clean', sessionId } },
    ]);
  });

  test('of another number, another session and a machine that does not answer are told apart', async () => {
    await using door = await openDoor();
    const { session } = await openSession(door);
    await expect(session.listTerminals()).rejects.toMatchObject({ code: 'machine.offline' });
    door.bus.machine = answer;
    await expect(session.killTerminal(5)).rejects.toMatchObject({ code: 'terminal.unknown' });
    const nobody = door.client.open(randomUUID());
    await expect(nobody.cleanTerminals()).rejects.toMatchObject({ code: 'session.unknown' });
  });

  test('end with their session', async () => {
    await using door = await openDoor();
    const { session, sessionId, machineId } = await openSession(door);
    await session.close();
    expect(door.bus.asked).toEqual([{ machineId, request: { op: 'close', sessionId } }]);
  });
});

describe('undo', () => {
  test('is asked of the machine of the session, by default for the last turn and without force', async () => {
    await using door = await openDoor();
    const { session, sessionId, machineId } = await openSession(door);
    const result: UndoResult = { kind: 'undone', ordinal: 2, restored: ['/w/a'], left: [] };
    door.bus.machine = () => result;
    expect(await session.undo()).toEqual(result);
    expect(await session.undo({ turn: 1, force: true })).toEqual(result);
    expect(door.bus.asked).toEqual([
      { machineId, request: { op: 'undo', sessionId, force: false } },
      { machineId, request: { op: 'undo', sessionId, force: true, ordinal: 1 } },
    ]);
  });

  test('of a machine that does not answer says that it is offline', async () => {
    await using door = await openDoor();
    const { session } = await openSession(door);
    await expect(session.undo()).rejects.toMatchObject({ code: 'machine.offline' });
  });
});
