// call-batch.ts: the calls of one step, as readers and writers: neighbours that are parallel run together, an exclusive call runs
// alone, and nobody overtakes. Outputs are put in the asked order by the store, not here.
import type { CallRef, SessionId, TurnId } from '@holdfast/protocol';
import type { ToolCallHandler } from './ports.ts';

export type CallBatch = { sessionId: SessionId; turnId: TurnId; calls: readonly CallRef[] };

/** Resolves to true when the turn was found sealed on the way; the remaining calls are not dispatched then, nor after an abort. */
export async function runCalls(
  handler: ToolCallHandler,
  batch: CallBatch,
  signal: AbortSignal,
): Promise<boolean> {
  const { sessionId, turnId } = batch;
  for (const group of toGroups(batch.calls)) {
    if (signal.aborted) return false;
    const results = await Promise.all(group.map((call) => handler.run({ sessionId, turnId, call }, signal)));
    if (results.some((result) => result.kind === 'sealed')) return true;
  }
  return false;
}

/** Consecutive parallel calls form one group; every exclusive call is a group of its own. */
export function toGroups(calls: readonly CallRef[]): CallRef[][] {
  const groups: CallRef[][] = [];
  for (const call of calls) {
    const last = groups.at(-1);
    if (call.parallel && last?.at(-1)?.parallel) last.push(call);
    else groups.push([call]);
  }
  return groups;
}
