import type { CommitStep, OpenedStep, OpenStep, StepLog } from '@holdfast/agent-loop';
import { Failure, failureTable } from '@holdfast/failures';
import {
  toCallId,
  toMessageText,
  toUserMessage,
  type Digest,
  type EventBody,
  type Item,
  type StepReply,
  type TurnId,
} from '@holdfast/protocol';
import {
  append,
  findSession,
  findStep,
  setActive,
  type MemoryState,
  type RunningTurn,
  type SessionData,
  type StepRow,
  type Waiting,
} from './state.ts';
import { findInput, readVerdict, sealRunning, startTurn } from './turns.ts';

export function createStepLog(state: MemoryState): StepLog {
  return {
    openStep: async (request) => openStep(state, findSession(state, request.sessionId), request),
    commitStep: async (request) => commitStep(state, findSession(state, request.sessionId), request),
    noteFailure: async ({ sessionId, turnId, step, fence, error, willRetry, waiting }) => {
      const session = findSession(state, sessionId);
      const row = findStep(session, turnId, step);
      const isCurrent = session.running?.turnId === turnId && row && !row.committed && row.fence === fence;
      if (isCurrent && !willRetry) row.failure = error;
      if (!isCurrent || !willRetry || row.notedFence === fence) return;
      row.notedFence = fence;
      if (waiting) return noteWait(state, session, { reason: waiting, detail: error.message });
      append(state, session, { turnId, events: [{ type: 'error', error, willRetry: true, attempt: fence }] });
    },
  };
}

/** A turn that waits for the same thing again, with nothing in between, says so once. */
function noteWait(state: MemoryState, session: SessionData, waiting: Waiting): void {
  const { running } = session;
  if (!running) return;
  const newest = session.events.findLast((event) => event.turnId === running.turnId);
  const isTold =
    newest?.type === 'status' &&
    newest.status === 'waiting' &&
    newest.reason === waiting.reason &&
    newest.detail === waiting.detail;
  session.waiting = waiting;
  setActive(session, 'waiting');
  const events: EventBody[] = isTold ? [] : [{ type: 'status', status: 'waiting', ...waiting }];
  append(state, session, { turnId: running.turnId, events });
}

function openStep(state: MemoryState, session: SessionData, request: OpenStep): OpenedStep {
  const { turnId } = request;
  if (session.running?.turnId !== turnId) {
    const status = readVerdict(session, turnId);
    if (status) return { kind: 'sealed', status };
    if (session.state === 'closed') throw new Failure('session.closed');
    assertNextStep(request.step, 0);
  }
  const known = findStep(session, turnId, request.step);
  if (known?.committed) return { kind: 'committed', reply: repeatReply(session, known, request.inputs) };
  if (session.running?.turnId === turnId && !known)
    assertNextStep(request.step, session.running.steps, session.running.openStep);
  for (const inputId of request.inputs) findInput(session, inputId);

  if (session.running && session.running.turnId !== turnId)
    sealRunning(state, session, { kind: 'cancelled' });
  const running = session.running ?? startTurn(state, session, turnId);
  const { step, events } = known ? reopen(session, known) : startStep(session, running, request.step);
  const recorded = recordInputs(session, turnId, request.inputs);
  events.push(...recorded.events);
  if (session.waiting?.reason === 'machine') events.push(toOnlineEvent(state, session.settings.machineId));
  if (!session.catalogs || request.refreshTools) events.push(...refreshCatalogs(state, session));
  delete session.waiting;
  setActive(session, 'running');
  append(state, session, { turnId, events, items: recorded.items });

  const { settings, catalogs = [], items } = session;
  const { have } = request;
  const isUsable = have?.epoch === 0 && have.seq >= 0 && have.seq <= items.length;
  const news = items.slice(isUsable ? have.seq : 0);
  return {
    kind: 'open',
    fence: step.fence,
    ordinal: running.ordinal,
    epoch: 0,
    reset: !isUsable,
    items: news,
    settings,
    catalogs,
  };
}

function assertNextStep(step: number, started: number, open = 0): void {
  if (open > 0) throw new Failure('store.calls-open', { detail: `step ${open} has not ended` });
  if (step !== started + 1) throw new Failure('input.invalid', { detail: `step ${started + 1} comes next` });
}

/** Inputs that came along are kept for the next step; the reply does not end the turn while such inputs or later steps exist. */
function repeatReply(session: SessionData, step: StepRow, inputIds: readonly string[]): StepReply {
  if (!step.committed) throw new Error('the step is not committed');
  for (const inputId of inputIds) {
    const input = session.inputs.get(inputId);
    if (input && !input.recorded) input.turnId ??= step.turnId;
  }
  const isWaiting = [...session.inputs.values()].some(
    (input) => input.turnId === step.turnId && !input.recorded,
  );
  const hasMore = isWaiting || (session.running?.steps ?? 0) > step.step;
  return hasMore ? { ...step.committed.reply, endTurn: false } : step.committed.reply;
}

function startStep(
  session: SessionData,
  running: RunningTurn,
  step: number,
): { step: StepRow; events: EventBody[] } {
  const row = {
    turnId: running.turnId,
    step,
    fence: 1,
    notedFence: 0,
    callIds: [],
    finished: 0,
    recorded: 0,
  };
  session.steps.set(`${running.turnId}/${step}`, row);
  running.steps = step;
  running.openStep = step;
  return { step: row, events: [{ type: 'step', step, status: 'started' }] };
}

function reopen(session: SessionData, step: StepRow): { step: StepRow; events: EventBody[] } {
  const newest = session.events.findLast((event) => event.turnId === step.turnId);
  const isNoted =
    (newest?.type === 'error' && newest.willRetry) ||
    (newest?.type === 'status' && newest.status === 'waiting');
  const code = 'step.retried';
  const error = { code, message: failureTable[code].message };
  const events: EventBody[] = isNoted ? [] : [{ type: 'error', error, willRetry: true, attempt: step.fence }];
  step.fence += 1;
  return { step, events };
}

function recordInputs(
  session: SessionData,
  turnId: TurnId,
  inputIds: readonly string[],
): { items: Item[]; events: EventBody[] } {
  const place = (inputId: string) => {
    if (inputId === turnId) return -1;
    const index = inputIds.indexOf(inputId);
    return index < 0 ? inputIds.length : index;
  };
  const inputs = [...session.inputs.values()]
    .filter((input) => !input.recorded)
    .filter(
      (input) => input.turnId === turnId || (input.turnId === undefined && inputIds.includes(input.inputId)),
    )
    .toSorted((one, other) => place(one.inputId) - place(other.inputId) || one.position - other.position);
  for (const input of inputs) {
    input.turnId = turnId;
    input.recorded = true;
  }
  const steers = inputs.filter((input) => input.inputId !== turnId);
  return {
    items: inputs.map((input) => toUserMessage(input.text)),
    events: steers.map(({ inputId, text }) => ({ type: 'message_injected', inputId, text })),
  };
}

export function toOnlineEvent(state: MemoryState, machineId: string): EventBody {
  const name = state.machines.get(machineId)?.name ?? machineId;
  return { type: 'context', change: 'machine-online', detail: `Machine ${name} is back` };
}

/** The machine's catalog first, then those of gateways that are online, by name. */
function readOffer(state: MemoryState, machineId: string): Digest[] {
  const machine = state.machines.get(machineId);
  const gateways = [...state.machines.values()]
    .filter((other) => other.kind === 'gateway' && other.leaseExpiresAt > state.now() && other !== machine)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return [...new Set([...(machine ? [machine] : []), ...gateways].map((offer) => offer.catalogDigest))];
}

function refreshCatalogs(state: MemoryState, session: SessionData): EventBody[] {
  const before = session.catalogs;
  const offer = readOffer(state, session.settings.machineId);
  session.catalogs = offer;
  if (!before || before.join() === offer.join()) return [];
  const tools = offer
    .map((digest) => state.catalogs.get(digest)?.tools.length ?? 0)
    .reduce((sum, count) => sum + count, 0);
  return [{ type: 'context', change: 'tools-refreshed', detail: `Tools offered now: ${tools}` }];
}

function commitStep(state: MemoryState, session: SessionData, request: CommitStep): StepReply {
  const { turnId, responseId, usage, contextTokens, endTurn } = request;
  const { running } = session;
  if (running?.turnId !== turnId) {
    const status = session.turns.get(turnId)?.status;
    if (status === undefined || status === 'running') throw new Failure('store.stale-fence');
    return { kind: 'sealed', status };
  }
  const row = findStep(session, turnId, request.step);
  if (row?.committed?.responseId === responseId) return row.committed.reply;
  if (!row || row.committed || row.fence !== request.fence) throw new Failure('store.stale-fence');
  const { step } = row;
  const content = request.items
    .map((item) => toContentEvent(item, step))
    .filter((event) => event !== undefined);
  const refs = request.calls.map((call, index) => {
    const callId = toCallId({ ordinal: running.ordinal, step, index });
    session.calls.set(callId, { ...call, callId, turnId, step, state: 'pending', fence: 0, claimedAt: 0 });
    return { callId, tool: call.tool, placement: call.placement, parallel: call.parallel, input: call.input };
  });
  const events: EventBody[] = [
    ...content,
    { type: 'usage', step, responseId, usage, contextTokens },
    ...refs.map(({ callId, tool, input }) => ({ type: 'tool_call' as const, step, callId, tool, input })),
  ];
  if (refs.length === 0) {
    events.push({ type: 'step', step, status: 'completed' });
    running.openStep = 0;
  }
  const calls = refs.map(({ callId, tool, placement, parallel }) => ({ callId, tool, placement, parallel }));
  const reply = { kind: 'reply' as const, calls, contextTokens, endTurn };
  row.callIds = calls.map((call) => call.callId);
  row.committed = { responseId, usage, reply };
  append(state, session, { turnId, events, items: request.items });
  return reply;
}

function toContentEvent(item: Item, step: number): EventBody | undefined {
  if (item.type === 'reasoning') {
    const text = item.summary.map((part) => part.text).join('\n\n');
    return text ? { type: 'reasoning', step, text } : undefined;
  }
  if (item.type !== 'message' || item.role !== 'assistant') return undefined;
  const text = toMessageText(item);
  return text ? { type: 'text', step, text } : undefined;
}
