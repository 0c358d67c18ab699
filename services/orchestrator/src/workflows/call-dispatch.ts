// call-dispatch.ts: gets one call done, wherever it runs and however long that takes.
// C1  Dispatching again is always safe: the claim in the store decides whether anything runs.
// C2  A machine that does not take the call in time parks the turn visibly; the next dispatch waits without a limit, so the machine's
//     own queue wakes the turn when the machine is back.
// C3  A call that cannot be brought to an end is settled as `unknown`. The loop sees no exception but a cancellation and a broken
//     tool, which ends the turn.
import type { ToolCallHandler } from '@holdfast/agent-loop';
import type { SessionArgs } from '@holdfast/contracts';
import { Failure, failureTable } from '@holdfast/failures';
import type { CallOutput, CallRef, CallResult, CallStatus, TurnId } from '@holdfast/protocol';
import { condition, isCancellation } from '@temporalio/workflow';
import type { SessionActivities } from './activities.ts';
import { isUnclaimed, toFailure } from './activity-failure.ts';
import type { SessionControl } from './control.ts';

export type CallDispatchOptions = {
  args: SessionArgs;
  control: SessionControl;
  activities: SessionActivities;
};

/** An answer normally arrives as an update; asking again covers an answer whose announcement was lost. */
const firstAskAgainMs = 30_000;
const longestAskAgainMs = 3_600_000;

export function createCallDispatch(options: CallDispatchOptions): ToolCallHandler {
  return {
    async run({ turnId, call }) {
      if (call.placement === 'workflow')
        return settle(options, call, 'failed', `unsupported call: ${call.tool}`);
      let parked = false;
      for (let pauseMs = firstAskAgainMs; ; pauseMs = Math.min(pauseMs * 2, longestAskAgainMs)) {
        const result = await dispatch(options, call, parked);
        if (result === 'unclaimed') {
          await noteWaiting(options, turnId, call);
          parked = true;
        } else if (result === 'lost') {
          return settle(options, call, 'unknown', failureTable['tool.outcome-unknown'].message);
        } else if (result.kind === 'awaiting-approval') {
          const { approvalId } = result;
          await condition(() => options.control.decided.has(approvalId), pauseMs);
        } else {
          return result;
        }
      }
    },
  };
}

async function dispatch(
  { activities }: CallDispatchOptions,
  call: CallRef,
  parked: boolean,
): Promise<CallResult | 'unclaimed' | 'lost'> {
  try {
    return await activities.runCall(call, { parked });
  } catch (error) {
    if (isCancellation(error)) throw error;
    if (isUnclaimed(error)) return 'unclaimed';
    const failure = toFailure(error);
    if (failure instanceof Failure && failure.code === 'tool.broken') throw failure; // C3
    return 'lost';
  }
}

async function noteWaiting(
  { args, activities }: CallDispatchOptions,
  turnId: TurnId,
  call: CallRef,
): Promise<void> {
  const detail = call.placement === 'gateway' ? 'the MCP gateway' : `machine ${args.machineId}`;
  await activities.history.noteWaiting({ sessionId: args.sessionId, turnId, reason: 'machine', detail });
}

async function settle(
  { args, activities }: CallDispatchOptions,
  call: CallRef,
  status: CallStatus,
  text: string,
): Promise<CallResult> {
  const output: CallOutput = { status, text, tokens: Math.ceil(text.length / 4), durationMs: 0 };
  await activities.history.settleCall({ sessionId: args.sessionId, callId: call.callId, output });
  return { kind: 'finished', status, outputTokens: output.tokens };
}
