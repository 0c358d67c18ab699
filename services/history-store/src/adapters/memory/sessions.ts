import type { SessionLog } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import { noUsage, type Session, type TokenUsage, type Turn } from '@holdfast/protocol';
import { findSession, type MemoryState, type SessionData, type StepRow, type TurnRow } from './state.ts';
import { sealRunning } from './turns.ts';

export function createSessionLog(state: MemoryState): SessionLog {
  return {
    createSession: async (request) => {
      const known = state.sessions.get(request.sessionId);
      if (known) return toSession(known);
      if (!state.machines.has(request.settings.machineId)) {
        throw new Failure('machine.unknown', { detail: request.settings.machineId });
      }
      const session = createSession(request, state.now());
      state.sessions.set(session.sessionId, session);
      return toSession(session);
    },
    readSession: async ({ sessionId }) => toSession(findSession(state, sessionId)),
    listSessions: async ({ limit }) =>
      [...state.sessions.values()]
        .toSorted(
          (one, other) => other.updatedAt - one.updatedAt || (one.sessionId < other.sessionId ? -1 : 1),
        )
        .slice(0, limit)
        .map(toSession),
    closeSession: async ({ sessionId }) => {
      const session = findSession(state, sessionId);
      sealRunning(state, session, { kind: 'cancelled' });
      if (session.state !== 'closed') session.updatedAt = state.now();
      session.state = 'closed';
      return toSession(session);
    },
    addInput: async ({ sessionId, input }) => {
      const session = findSession(state, sessionId);
      if (session.inputs.has(input.inputId)) return { duplicate: true };
      if (session.state === 'closed') throw new Failure('session.closed');
      const position = state.nextPosition++;
      session.inputs.set(input.inputId, { ...input, position, recorded: false, createdAt: state.now() });
      session.updatedAt = state.now();
      return { duplicate: false };
    },
    listPendingInputs: async ({ quietMs, after, limit }) =>
      [...state.sessions.values()]
        .filter((session) => session.state !== 'closed' && session.updatedAt <= state.now() - quietMs)
        .flatMap(listPending)
        .filter(({ position }) => position > after)
        .toSorted((one, other) => one.position - other.position)
        .slice(0, limit),
    listTurns: async ({ sessionId }) => {
      const session = findSession(state, sessionId);
      return [...session.turns.values()].map((turn) => toTurn(session, turn));
    },
    readItems: async ({ sessionId, after, limit }) =>
      findSession(state, sessionId).items.slice(after, after + limit),
    readEvents: async ({ sessionId, after, limit }) =>
      findSession(state, sessionId).events.slice(after, after + limit),
  };
}

function createSession(request: Parameters<SessionLog['createSession']>[0], now: number): SessionData {
  const { sessionId, title, settings, context } = request;
  return {
    sessionId,
    title,
    settings,
    state: 'idle',
    turnCount: 0,
    createdAt: now,
    updatedAt: now,
    inputs: new Map(),
    turns: new Map(),
    steps: new Map(),
    calls: new Map(),
    approvals: new Map(),
    items: context.map((item, index) => ({ seq: index + 1, item })),
    events: [],
  };
}

function listPending(session: SessionData) {
  return [...session.inputs.values()]
    .filter((input) => input.turnId === undefined || input.turnId === session.running?.turnId)
    .map(({ inputId, kind, position }) => ({
      position,
      sessionId: session.sessionId,
      input: { inputId, kind },
    }));
}

function toSession(session: SessionData): Session {
  const { sessionId, title, state, settings } = session;
  return {
    sessionId,
    title,
    state,
    settings,
    turns: session.turnCount,
    ...(session.running ? { runningTurn: session.running.turnId } : {}),
    lastItemSeq: session.items.length,
    lastEventSeq: session.events.length,
    createdAt: new Date(session.createdAt).toISOString(),
    updatedAt: new Date(session.updatedAt).toISOString(),
  };
}

function toTurn(session: SessionData, turn: TurnRow): Turn {
  const { turnId, ordinal, status } = turn;
  const steps = [...session.steps.values()].filter((step) => step.turnId === turnId);
  return {
    turnId,
    ordinal,
    status,
    ...(turn.error ? { error: turn.error } : {}),
    steps: steps.length,
    usage: toUsage(steps),
    startedAt: new Date(turn.startedAt).toISOString(),
    ...(turn.endedAt === undefined ? {} : { endedAt: new Date(turn.endedAt).toISOString() }),
  };
}

/** Each response id counts once. */
function toUsage(steps: readonly StepRow[]): TokenUsage {
  const replies = steps.flatMap((step) => (step.committed ? [step.committed] : []));
  const once = replies.filter(
    (reply, index) => replies.findIndex((other) => other.responseId === reply.responseId) === index,
  );
  return once.reduce(
    (sum, { usage }) => ({
      inputTokens: sum.inputTokens + usage.inputTokens,
      cachedInputTokens: sum.cachedInputTokens + usage.cachedInputTokens,
      outputTokens: sum.outputTokens + usage.outputTokens,
      reasoningOutputTokens: sum.reasoningOutputTokens + usage.reasoningOutputTokens,
    }),
    noUsage,
  );
}
