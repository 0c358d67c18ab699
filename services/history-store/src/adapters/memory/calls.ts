import type { CallLog } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import {
  toApprovalId,
  type Approval,
  type CallDetail,
  type CallOutput,
  type CallStatus,
  type Claim,
  type EventBody,
} from '@holdfast/protocol';
import {
  append,
  findCall,
  findSession,
  findStep,
  setActive,
  type ApprovalRow,
  type CallRow,
  type MemoryState,
  type SessionData,
} from './state.ts';
import { toOnlineEvent } from './steps.ts';
import { takeOutputs, toResultEvent } from './turns.ts';

const declinedText =
  'The person declined this call, so it was not run. Do not try it again in another way; go on without it or ask what to do.';

export function createCallLog(state: MemoryState): CallLog {
  return {
    claimCall: async ({ sessionId, callId, ...holder }) =>
      claimCall(state, findSession(state, sessionId), { callId, holder }),
    askApproval: async (request) => askApproval(state, request),
    decideApproval: async (request) => decideApproval(state, request),
    appendProgress: async ({ sessionId, callId, fence, ...progress }) => {
      const session = findSession(state, sessionId);
      const call = findCall(session, callId);
      const event: EventBody = { type: 'mcp_progress', callId, ...progress };
      if (call.state !== 'claimed' || call.fence !== fence || isSame(call.progress, event)) return;
      call.progress = event;
      append(state, session, { turnId: call.turnId, events: [event] });
    },
    finishCall: async ({ sessionId, callId, fence, output }) => {
      const session = findSession(state, sessionId);
      const call = findCall(session, callId);
      if (call.fence !== fence) throw new Failure('store.stale-fence');
      if (call.output) return toFinished(call.output);
      if (call.state !== 'claimed') throw new Failure('store.stale-fence');
      return endCall(state, session, { call, output, before: [] });
    },
    settleCall: async ({ sessionId, callId, output }) => {
      const session = findSession(state, sessionId);
      const call = findCall(session, callId);
      if (call.output) return toFinished(call.output);
      setActive(session, 'running');
      delete session.waiting;
      call.fence += 1;
      return endCall(state, session, { call, output, before: [] });
    },
  };
}

function claimCall(
  state: MemoryState,
  session: SessionData,
  request: { callId: string; holder: { machineId: string; bootId: string } },
): Claim {
  const call = findCall(session, request.callId);
  const { callId, turnId, holder: previous } = call;
  if (session.running?.turnId !== turnId) return { kind: 'sealed' };
  if (call.output) return { kind: 'finished', ...toFinished(call.output) };
  if (call.state === 'awaiting-approval')
    return { kind: 'awaiting-approval', approvalId: toApprovalId(callId) };
  const isClaimed = call.state === 'claimed';
  call.state = 'claimed';
  call.fence += 1;
  call.holder = request.holder;
  if (!isClaimed) call.claimedAt = state.now();
  noteActivity(state, session, call);
  const detail = toDetail(session, call);
  if (isClaimed && previous) return { kind: 'resolve', fence: call.fence, call: detail, previous };
  const isAccepted = session.approvals.get(toApprovalId(callId))?.decision === 'accept';
  return { kind: 'run', fence: call.fence, call: detail, approval: isAccepted ? 'accepted' : 'none' };
}

/** A claim ends the waiting, but only the machine itself ends the waiting for the machine. */
function noteActivity(state: MemoryState, session: SessionData, call: CallRow): void {
  const reason = session.waiting?.reason;
  if (session.state !== 'waiting' || (reason === 'machine' && call.placement !== 'machine')) return;
  const machineId = call.holder?.machineId ?? session.settings.machineId;
  delete session.waiting;
  setActive(session, 'running');
  append(state, session, {
    turnId: call.turnId,
    events: reason === 'machine' ? [toOnlineEvent(state, machineId)] : [],
  });
}

function toDetail(session: SessionData, call: CallRow): CallDetail {
  const { turnId, callId, modelCallId, tool, form, input } = call;
  const { cwd, approvalPolicy, model } = session.settings;
  const style = model.outputStyle === undefined ? {} : { outputStyle: model.outputStyle };
  return {
    sessionId: session.sessionId,
    turnId,
    callId,
    modelCallId,
    tool,
    form,
    input,
    context: { cwd, approvalPolicy, ...style },
  };
}

function toFinished(output: CallOutput): { status: CallStatus; outputTokens: number } {
  return { status: output.status, outputTokens: output.tokens };
}

/** The result is told at once; the output becomes an item as soon as those before it have. `before` goes first. */
function endCall(
  state: MemoryState,
  session: SessionData,
  end: { call: CallRow; output: CallOutput; before: EventBody[] },
): { status: CallStatus; outputTokens: number } {
  const { call, output } = end;
  const step = findStep(session, call.turnId, call.step);
  if (!step) throw new Error(`call ${call.callId} has no step`);
  call.state = 'finished';
  call.output = output;
  step.finished += 1;
  const events = [...end.before, toResultEvent(call)];
  if (step.finished === step.callIds.length) {
    events.push({ type: 'step', step: step.step, status: 'completed' });
    if (session.running) session.running.openStep = 0;
  }
  append(state, session, { turnId: call.turnId, events, items: takeOutputs(session, step) });
  return toFinished(output);
}

function askApproval(
  state: MemoryState,
  request: Parameters<CallLog['askApproval']>[0],
): { approvalId: string } {
  const session = findSession(state, request.sessionId);
  const call = findCall(session, request.callId);
  const { callId, tool } = call;
  const approvalId = toApprovalId(callId);
  if (call.fence !== request.fence || call.state === 'finished') throw new Failure('store.stale-fence');
  if (call.state !== 'claimed') return { approvalId };
  const known = session.approvals.get(approvalId);
  call.state = known?.decision === undefined ? 'awaiting-approval' : 'pending';
  if (known) return { approvalId };
  const { question } = request;
  session.approvals.set(approvalId, { approvalId, callId, tool, question });
  setActive(session, 'waiting');
  append(state, session, {
    turnId: call.turnId,
    events: [{ type: 'approval', status: 'requested', approvalId, callId, tool, question }],
  });
  return { approvalId };
}

function decideApproval(state: MemoryState, request: Parameters<CallLog['decideApproval']>[0]): Approval {
  const { decision } = request;
  const session = findSession(state, request.sessionId);
  const row = session.approvals.get(request.approvalId);
  if (!row) throw new Failure('approval.unknown');
  if (row.decision === decision) return toApproval(session, row);
  if (row.decision) throw new Failure('approval.decided', { detail: row.decision });
  const call = findCall(session, row.callId);
  if (call.state !== 'awaiting-approval') throw new Failure('approval.unknown');
  row.decision = decision;
  const { approvalId, callId } = row;
  const resolved: EventBody = { type: 'approval', status: 'resolved', approvalId, callId, decision };
  setActive(session, 'running');
  if (session.waiting?.reason === 'approval') delete session.waiting;
  if (decision === 'decline') {
    const output: CallOutput = {
      status: 'denied',
      text: declinedText,
      tokens: Math.ceil(declinedText.length / 4),
      durationMs: 0,
    };
    call.fence += 1;
    endCall(state, session, { call, output, before: [resolved] });
  } else {
    call.state = 'pending';
    append(state, session, { turnId: call.turnId, events: [resolved] });
  }
  return toApproval(session, row);
}

function toApproval(session: SessionData, row: ApprovalRow): Approval {
  return { ...row, sessionId: session.sessionId };
}

function isSame(one: object | undefined, other: object): boolean {
  const sorted = (value: object) =>
    JSON.stringify(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return one !== undefined && sorted(one) === sorted(other);
}
