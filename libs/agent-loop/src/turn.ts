// turn.ts: one turn = sample the model, run the calls it asked for, repeat until it stops.
// Owns: the order of model and tool calls in one turn.
// Does not own: the queue of inputs (session.ts), the order inside a step (call-batch.ts), what an ended turn leaves behind (the store).
// T1  A reply and its calls are in the store before the first of them is dispatched.
// T2  The next request is sent only when every call of the step has its output.
// T3  Inputs that arrive during a step are in the next request, once, never between a call and its output.
// T4  After an abort nothing is dispatched any more.
import { toNotice } from '@holdfast/failures';
import type { InputId, SessionId, TurnEnd, TurnId } from '@holdfast/protocol';
import { runCalls } from './call-batch.ts';
import type { TurnPorts } from './ports.ts';

/** Durable: goes through continue-as-new. */
export type TurnState = {
  turnId: TurnId;
  /** The step that runs next or now, from 1. */
  step: number;
  /** Inputs that the next request has to record. */
  inputs: InputId[];
  refreshTools?: boolean;
};

export type TurnOutcome = { kind: 'ended'; end: TurnEnd } | { kind: 'sealed' } | { kind: 'suspended' };

export type TurnOptions = {
  sessionId: SessionId;
  signal: AbortSignal;
  /** Asked after every step: true suspends the turn so that it can go on elsewhere from `state`. */
  shouldSuspend?: () => boolean;
};

/** Runs the turn from `state` on, and keeps `state` true to what has been done. Never throws. */
export async function runTurn(
  ports: TurnPorts,
  state: TurnState,
  options: TurnOptions,
): Promise<TurnOutcome> {
  try {
    for (;;) {
      const outcome = await runStep(ports, state, options);
      if (outcome !== 'next') return outcome;
      if (options.shouldSuspend?.()) return { kind: 'suspended' };
    }
  } catch (error) {
    if (options.signal.aborted) return { kind: 'ended', end: { kind: 'cancelled' } };
    return { kind: 'ended', end: { kind: 'error', error: toNotice(error) } };
  }
}

async function runStep(
  ports: TurnPorts,
  state: TurnState,
  options: TurnOptions,
): Promise<'next' | TurnOutcome> {
  const { sessionId, signal } = options;
  const request = takeRequest(state);
  const reply = await ports.model.sample({ sessionId, ...request }, signal).catch((error: unknown) => {
    state.inputs.unshift(...request.inputs);
    throw error;
  });
  signal.throwIfAborted();
  if (reply.kind === 'sealed') return { kind: 'sealed' };
  const sealed = await runCalls(ports.calls, { sessionId, turnId: state.turnId, calls: reply.calls }, signal); // T1, T2
  signal.throwIfAborted(); // T4
  if (sealed) return { kind: 'sealed' };
  state.step += 1;
  const finished = reply.calls.length === 0 && reply.endTurn && state.inputs.length === 0; // T3
  return finished ? { kind: 'ended', end: { kind: 'completed' } } : 'next';
}

function takeRequest(state: TurnState): {
  turnId: TurnId;
  step: number;
  inputs: InputId[];
  refreshTools?: boolean;
} {
  const request = {
    turnId: state.turnId,
    step: state.step,
    inputs: state.inputs,
    ...(state.refreshTools ? { refreshTools: true } : {}),
  };
  state.inputs = [];
  delete state.refreshTools;
  return request;
}
