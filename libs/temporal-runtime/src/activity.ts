// activity.ts: what every activity of Holdfast does the same way: heartbeats by timer, one abort signal, failures by code.
import { heartbeatIntervalMs } from '@holdfast/contracts';
import { Failure, failureTable, type FailureClass } from '@holdfast/failures';
import { ApplicationFailure, Context } from '@temporalio/activity';

/**
 * Runs `work` under heartbeats; its signal aborts on cancel, on a timeout and at worker shutdown. Failures leave as ApplicationFailure.
 * @param options.carried goes along with every heartbeat and with a failure, as it is then: the next attempt finds it as its
 * `heartbeatDetails`
 */
export async function runActivity<T>(
  work: (signal: AbortSignal) => Promise<T>,
  options: { carried?: object } = {},
): Promise<T> {
  const context = Context.current();
  const beat = () => context.heartbeat(options.carried);
  const timer = setInterval(beat, heartbeatIntervalMs);
  try {
    return await work(context.cancellationSignal);
  } catch (error) {
    if (context.cancellationSignal.aborted)
      await context.cancelled.catch((cancelled: unknown) => Promise.reject(cancelled));
    if (options.carried) beat();
    throw error instanceof Failure ? toApplicationFailure(error) : error;
  } finally {
    clearInterval(timer);
  }
}

const repeatable: ReadonlySet<FailureClass> = new Set(['transient', 'api-limit']);

/** Whether Temporal repeats, and after which pause; without one on the schedule of the activity. */
type RepeatRule = { repeat: boolean; pauseMs?: number | undefined };

/**
 * The code becomes the type; whether Temporal repeats follows from the class unless the thrower knows better, likewise the pause
 * from what the other side asked for. Details stay behind, because they may quote the conversation; whoever throws has noted them in
 * the store.
 */
export function toApplicationFailure(
  failure: Failure,
  rule: RepeatRule = { repeat: repeatable.has(failure.class), pauseMs: failure.retryAfterMs },
): ApplicationFailure {
  return ApplicationFailure.create({
    message: failureTable[failure.code].message,
    type: failure.code,
    nonRetryable: !rule.repeat,
    ...(rule.pauseMs === undefined ? {} : { nextRetryDelay: rule.pauseMs }),
  });
}
