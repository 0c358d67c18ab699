import { heartbeatIntervalMs } from '@holdfast/contracts';
// activity.ts: what every activity of Holdfast does the same way: heartbeats by timer, one abort signal, failures by code.
import { Failure, failureTable, type FailureClass } from '@holdfast/failures';
import { ApplicationFailure, Context } from '@temporalio/activity';

/** Runs `work` under heartbeats; its signal aborts on cancel, on a timeout and at worker shutdown. Failures leave as ApplicationFailure. */
export async function runActivity<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), heartbeatIntervalMs);
  try {
    return await work(context.cancellationSignal);
  } catch (error) {
    if (context.cancellationSignal.aborted)
      await context.cancelled.catch((cancelled: unknown) => Promise.reject(cancelled));
    throw error instanceof Failure ? toApplicationFailure(error) : error;
  } finally {
    clearInterval(timer);
  }
}

const repeatable: ReadonlySet<FailureClass> = new Set(['transient', 'api-limit']);

/**
 * The code becomes the type; whether Temporal repeats follows from the class; a wait the other side asked for becomes the next delay.
 * Details stay behind, because they may quote the conversation; whoever throws has noted them in the store.
 */
export function toApplicationFailure(failure: Failure): ApplicationFailure {
  return ApplicationFailure.create({
    message: failureTable[failure.code].message,
    type: failure.code,
    nonRetryable: !repeatable.has(failure.class),
    ...(failure.retryAfterMs === undefined ? {} : { nextRetryDelay: failure.retryAfterMs }),
  });
}
