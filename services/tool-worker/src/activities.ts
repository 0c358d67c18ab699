import type { CallActivities } from '@holdfast/contracts';
import { runActivity } from '@holdfast/temporal-runtime';
import { Context } from '@temporalio/activity';
import type { CallExecutor, DispatchStop } from './call-executor.ts';
import type { CallOrigin } from './journal.ts';

/** Temporal's dispatches of calls. */
export function createCallActivities(calls: CallExecutor): CallActivities {
  return {
    runCall: (args) => {
      const context = Context.current();
      const origin = toOrigin(context);
      const request = { ...args, ...(origin ? { origin } : {}) };
      return runActivity((signal) => calls.run(request, toDispatchSignal(context, signal)));
    },
  };
}

function toOrigin({ info }: Context): CallOrigin | undefined {
  return info.workflowExecution && { ...info.workflowExecution, activityId: info.activityId };
}

/** Says why Temporal gave the dispatch up: on request, because this worker ends, or because it counts another one by now. */
function toDispatchSignal(context: Context, signal: AbortSignal): AbortSignal {
  const dispatch = new AbortController();
  signal.addEventListener('abort', () => dispatch.abort(toReason(context)), { once: true });
  return dispatch.signal;
}

function toReason({ cancellationDetails }: Context): DispatchStop {
  if (cancellationDetails?.cancelRequested) return 'cancelled';
  return cancellationDetails?.workerShutdown ? 'shutdown' : 'superseded';
}
