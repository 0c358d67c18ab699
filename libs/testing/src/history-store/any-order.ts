// any-order.ts: what holds whatever is asked of a store, in whatever order, with repeats and late attempts.
import { randomUUID } from 'node:crypto';
import type { HistoryStore } from '@holdfast/agent-loop';
import { isCallItem, isTerminal, type SessionEvent, type StoredItem } from '@holdfast/protocol';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { commandsArbitrary, runCommands, type Run } from './commands.ts';
import { toRegistration, toUniqueName, type StoreUnderTest } from './scenario.ts';

const runs = 60;

export function describeAnyOrder(subject: () => StoreUnderTest): void {
  test('whatever is asked in whatever order, the logs stay sound', async () => {
    const property = fc.asyncProperty(commandsArbitrary, async (commands) => {
      const run = await openRun(subject().store, { sessionId: randomUUID(), name: toUniqueName('laptop') });
      await runCommands(run, commands);
      const page = { sessionId: run.sessionId, after: 0, limit: 1000 };
      const [events, items] = await Promise.all([run.store.readEvents(page), run.store.readItems(page)]);
      expect([...findEventFaults(events), ...findItemFaults(items)]).toEqual([]);
    });
    await fc.assert(property, { numRuns: runs });
  });
}

/** Fails with the shortest sequence of operations whose answers or logs differ between two stores. */
export async function expectSameBehaviour(one: HistoryStore, other: HistoryStore): Promise<void> {
  const property = fc.asyncProperty(commandsArbitrary, async (commands) => {
    const ids = { sessionId: randomUUID(), name: toUniqueName('laptop') };
    const [first, second] = await Promise.all(
      [one, other].map(async (store) => observe(await openRun(store, ids), commands)),
    );
    expect(first).toEqual(second);
  });
  await fc.assert(property, { numRuns: runs });
}

async function openRun(store: HistoryStore, ids: { sessionId: string; name: string }): Promise<Run> {
  const machine = toRegistration({ name: ids.name });
  await store.registerMachine(machine);
  const { machineId } = machine;
  const settings = { cwd: '/work', machineId, model: { name: 'm' }, approvalPolicy: 'always' as const };
  await store.createSession({ sessionId: ids.sessionId, title: '', settings, context: [] });
  return { store, sessionId: ids.sessionId, machineId };
}

async function observe(run: Run, commands: Parameters<typeof runCommands>[1]): Promise<unknown> {
  const { store, sessionId } = run;
  const outcomes = await runCommands(run, commands);
  const page = { sessionId, after: 0, limit: 1000 };
  const logs = await Promise.all([
    store.readEvents(page),
    store.readItems(page),
    store.listTurns({ sessionId }),
    store.readSession({ sessionId }),
  ]);
  return withoutTimes({ outcomes, logs });
}

const timeFields = new Set(['at', 'startedAt', 'endedAt', 'createdAt', 'updatedAt', 'durationMs', 'sinceMs']);

function withoutTimes(value: unknown): unknown {
  const text = JSON.stringify(value, (key, part: unknown) => {
    if (timeFields.has(key)) return 0;
    return typeof part === 'string' ? part.replace(/^aborted by user after .*s$/, 'aborted by user') : part;
  });
  return JSON.parse(text);
}

/** What breaks E1–E4 of the event contract. */
function findEventFaults(events: readonly SessionEvent[]): string[] {
  const faults = events
    .filter((event, index) => event.seq !== index + 1)
    .map((event) => `E1: gap before ${event.seq}`);
  for (const turn of Map.groupBy(events, (event) => event.turnId).values()) {
    const starts = turn.map((event) => event.type === 'status' && event.status === 'starting');
    if (starts.indexOf(true) !== 0 || starts.lastIndexOf(true) !== 0)
      faults.push('E2: starting is not once and first');
    const ends = turn.map(isTerminal);
    if (ends.indexOf(true) !== turn.length - 1)
      faults.push('E2, E4: the terminal status is not once and last');
    faults.push(...findStepFaults(turn));
  }
  return faults;
}

function findStepFaults(turn: readonly SessionEvent[]): string[] {
  const faults: string[] = [];
  let open = 0;
  let last = 0;
  const asked = new Set<string>();
  for (const event of turn) {
    const place = `E3: ${event.type} at ${event.seq}`;
    if (event.type === 'step' && event.status === 'started') {
      if (open !== 0 || event.step !== last + 1) faults.push(`${place} starts out of order`);
      open = event.step;
      last = event.step;
    } else if (event.type === 'step') {
      if (event.step !== open || asked.size > 0) faults.push(`${place} completes too early`);
      open = 0;
    } else if ('step' in event && event.step !== open) faults.push(`${place} is outside of its step`);
    if (event.type === 'tool_call') asked.add(event.callId);
    if (event.type === 'tool_result' && !asked.delete(event.callId))
      faults.push(`${place} is not the one result of a call`);
  }
  return open === 0 ? faults : [...faults, 'E3: a step is left open'];
}

/** What breaks I1: a step's calls are followed by their outputs, one each, in the asked order, with nothing in between. */
function findItemFaults(stored: readonly StoredItem[]): string[] {
  const faults = stored.filter(({ seq }, index) => seq !== index + 1).map(({ seq }) => `gap before ${seq}`);
  const waiting: string[] = [];
  for (const { seq, item } of stored) {
    const isOutput = item.type === 'function_call_output' || item.type === 'custom_tool_call_output';
    if (isCallItem(item)) waiting.push(item.call_id);
    else if (isOutput && item.call_id !== waiting.shift())
      faults.push(`I1: output ${seq} is not that of the next call`);
    else if (!isOutput && waiting.length > 0)
      faults.push(`I1: a ${item.type} stands between calls and outputs at ${seq}`);
  }
  return waiting.length === 0 ? faults : [...faults, `I1: ${waiting.join()} without output`];
}
