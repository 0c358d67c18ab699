import type { ModelStreamer } from '@holdfast/agent-loop';
import { historyOptions, queues, toCallOptions, toMachineQueue, toSampleOptions } from '@holdfast/contracts';
import type { CallActivities, HistoryActivities, LlmActivities, SessionArgs } from '@holdfast/contracts';
import type { CallRef, SessionCallResult } from '@holdfast/protocol';
import { proxyActivities } from '@temporalio/workflow';
import { toFailure } from './activity-failure.ts';

export type SessionActivities = {
  model: ModelStreamer;
  history: HistoryActivities;
  /**
   * `parked`: wait for a worker as long as it takes instead of failing with a schedule-to-start timeout. `woken`: new input ends
   * what a call of the session itself waits for.
   */
  runCall(call: CallRef, options: { parked: boolean; woken: boolean }): Promise<SessionCallResult>;
};

/** The activities of a session as the loop's ports. */
export function createActivities(args: SessionArgs): SessionActivities {
  const { sessionId, machineId, tuning } = args;
  const llm = proxyActivities<LlmActivities>({ ...toSampleOptions(tuning), taskQueue: queues.llm });
  const history = proxyActivities<HistoryActivities>({ ...historyOptions, taskQueue: queues.history });
  return {
    history,
    model: {
      sample: (request) =>
        llm.sample(request).catch((error: unknown) => {
          throw toFailure(error);
        }),
    },
    runCall: (call, { parked, woken }) => {
      if (call.placement === 'workflow')
        return history.runSessionCall({ sessionId, callId: call.callId, ...(woken ? { woken } : {}) });
      const taskQueue = call.placement === 'gateway' ? queues.gateway : toMachineQueue(machineId);
      const worker = proxyActivities<CallActivities>({ ...toCallOptions(tuning, { parked }), taskQueue });
      return worker.runCall({ sessionId, callId: call.callId });
    },
  };
}
