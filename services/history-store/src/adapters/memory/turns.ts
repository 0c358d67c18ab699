import type { HistoryStore } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import {
  toUserMessage,
  type CallOutputItem,
  type EventBody,
  type FailureNotice,
  type Item,
  type TerminalStatus,
  type TurnEnd,
  type TurnId,
} from '@holdfast/protocol';
import {
  append,
  findSession,
  findStep,
  setActive,
  type CallRow,
  type InputRow,
  type MemoryState,
  type RunningTurn,
  type SessionData,
  type StepRow,
} from './state.ts';

const abortedMessage = toUserMessage(
  '<turn_aborted>The person interrupted this turn. Tools that were running may have done a part of their work; look at the current state before going on.</turn_aborted>',
);

/** What the turn operations of the store need of it. */
export function createTurnLog(state: MemoryState): Pick<HistoryStore, 'sealTurn' | 'noteWaiting'> {
  return {
    sealTurn: async ({ sessionId, turnId, end }) => {
      const session = findSession(state, sessionId);
      if (session.running?.turnId === turnId) sealRunning(state, session, end);
      else {
        const decided = readVerdict(session, turnId);
        if (decided) return { status: decided };
        sealUnstarted(state, session, { turnId, end });
      }
      return { status: end.kind };
    },
    noteWaiting: async ({ sessionId, turnId, reason, detail }) => {
      const session = findSession(state, sessionId);
      const known = session.waiting;
      if (session.running?.turnId !== turnId || (known?.reason === reason && known.detail === detail)) return;
      session.waiting = { reason, detail };
      setActive(session, 'waiting');
      append(state, session, { turnId, events: [{ type: 'status', status: 'waiting', reason, detail }] });
    },
  };
}

/** Ends the running turn: every open call gets an output, the open step is closed, the terminal status is written. */
export function sealRunning(state: MemoryState, session: SessionData, asked: TurnEnd): void {
  const { running } = session;
  if (!running) return;
  const { turnId } = running;
  const events: EventBody[] = [];
  const items: Item[] = [];
  const step = findStep(session, turnId, running.openStep);
  const end = withNotice(asked, step?.failure);
  if (step) {
    for (const callId of step.callIds) {
      const call = session.calls.get(callId);
      if (call && call.state !== 'finished') events.push(abort(call, { now: state.now(), end }));
    }
    items.push(...takeOutputs(session, step));
    events.push({ type: 'step', step: step.step, status: 'completed' });
  }
  if (end.kind === 'cancelled') items.push(abortedMessage);
  events.push(toTerminalEvent(end));
  endTurnRow(session, { running, end, now: state.now() });
  for (const input of session.inputs.values()) {
    if (input.turnId === turnId && !input.recorded) delete input.turnId;
  }
  delete session.running;
  delete session.waiting;
  setActive(session, 'idle');
  append(state, session, { turnId, events, items });
}

/** The notice that the failed attempt left behind says more than what came through the engine. */
function withNotice(end: TurnEnd, noted: FailureNotice | undefined): TurnEnd {
  return end.kind === 'error' && noted?.code === end.error.code ? { kind: 'error', error: noted } : end;
}

function endTurnRow(session: SessionData, ended: { running: RunningTurn; end: TurnEnd; now: number }): void {
  const row = session.turns.get(ended.running.turnId);
  if (!row) return;
  row.status = ended.end.kind;
  row.endedAt = ended.now;
  if (ended.end.kind === 'error') row.error = ended.end.error;
}

/** Takes the call away from whoever holds it. */
function abort(call: CallRow, options: { now: number; end: TurnEnd }): EventBody {
  const claimed = call.state === 'claimed';
  const durationMs = claimed ? options.now - call.claimedAt : 0;
  const byUser = claimed && options.end.kind === 'cancelled';
  const text = byUser ? `aborted by user after ${(durationMs / 1000).toFixed(1)}s` : 'aborted';
  call.output = { status: 'aborted', text, tokens: Math.ceil(text.length / 4), durationMs };
  call.state = 'finished';
  call.fence += 1;
  return toResultEvent(call);
}

export function toResultEvent(call: CallRow): EventBody {
  if (!call.output) throw new Error(`call ${call.callId} has no output`);
  const { tokens: _, ...output } = call.output;
  return { type: 'tool_result', callId: call.callId, tool: call.tool, ...output };
}

/** The outputs that may become items now: finished, and with nothing unfinished before them. */
export function takeOutputs(session: SessionData, step: StepRow): CallOutputItem[] {
  const items: CallOutputItem[] = [];
  for (const callId of step.callIds.slice(step.recorded)) {
    const call = session.calls.get(callId);
    if (!call?.output) break;
    const type = call.form === 'function' ? 'function_call_output' : 'custom_tool_call_output';
    const { text, image } = call.output;
    items.push({ type, call_id: call.modelCallId, output: text, ...(image ? { image } : {}) });
  }
  step.recorded += items.length;
  return items;
}

function toTerminalEvent(end: TurnEnd): EventBody {
  if (end.kind === 'error') return { type: 'status', status: 'error', error: end.error };
  return { type: 'status', status: end.kind };
}

function toStartingEvent(ordinal: number, input: InputRow): EventBody {
  return { type: 'status', status: 'starting', ordinal, input: { inputId: input.inputId, text: input.text } };
}

/** The status of a turn that cannot run any more: it has ended, or another turn consumed its input. Undefined when it may start. */
export function readVerdict(session: SessionData, turnId: TurnId): TerminalStatus | undefined {
  const input = findInput(session, turnId);
  if (input.turnId === undefined) return undefined;
  const status = session.turns.get(input.turnId)?.status;
  return status === undefined || status === 'running' ? 'completed' : status;
}

/** @throws Failure input.invalid */
export function findInput(session: SessionData, inputId: string): InputRow {
  const input = session.inputs.get(inputId);
  if (!input) throw new Failure('input.invalid', { detail: `the session has no input ${inputId}` });
  return input;
}

export function startTurn(state: MemoryState, session: SessionData, turnId: TurnId): RunningTurn {
  const input = findInput(session, turnId);
  input.turnId = turnId;
  session.turnCount += 1;
  const running = { turnId, ordinal: session.turnCount, steps: 0, openStep: 0 };
  session.running = running;
  setActive(session, 'running');
  session.turns.set(turnId, { turnId, ordinal: running.ordinal, status: 'running', startedAt: state.now() });
  append(state, session, { turnId, events: [toStartingEvent(running.ordinal, input)] });
  return running;
}

/** While another turn runs, the model learns nothing of this one, so that no item gets between calls and their outputs. */
function sealUnstarted(
  state: MemoryState,
  session: SessionData,
  turn: { turnId: TurnId; end: TurnEnd },
): void {
  const { turnId, end } = turn;
  const input = findInput(session, turnId);
  input.turnId = turnId;
  input.recorded = true;
  session.turnCount += 1;
  const ordinal = session.turnCount;
  const now = state.now();
  const error = end.kind === 'error' ? { error: end.error } : {};
  session.turns.set(turnId, { turnId, ordinal, status: end.kind, startedAt: now, endedAt: now, ...error });
  const told = session.running ? [] : [toUserMessage(input.text)];
  const items = told.length > 0 && end.kind === 'cancelled' ? [...told, abortedMessage] : told;
  append(state, session, { turnId, events: [toStartingEvent(ordinal, input), toTerminalEvent(end)], items });
}
