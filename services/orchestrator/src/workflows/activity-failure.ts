// activity-failure.ts: what a failed activity means, read from types and codes only.
import { Failure, isFailureCode } from '@holdfast/failures';
import { ActivityFailure, ApplicationFailure, isCancellation, TimeoutFailure } from '@temporalio/workflow';

/** A failure by code for the loop; cancellations pass unchanged. */
export function toFailure(error: unknown): unknown {
  if (isCancellation(error) || !(error instanceof ActivityFailure)) return error;
  const cause = error.cause;
  if (cause instanceof ApplicationFailure && isFailureCode(cause.type)) {
    return new Failure(cause.type, { cause });
  }
  if (cause instanceof TimeoutFailure)
    return new Failure('model.unavailable', { detail: 'no LLM worker answered in time', cause });
  return new Failure('internal.unexpected', { cause });
}

/** True when no worker took the task in time: the machine is offline. */
export function isUnclaimed(error: unknown): boolean {
  return (
    error instanceof ActivityFailure &&
    error.cause instanceof TimeoutFailure &&
    error.cause.timeoutType === 'SCHEDULE_TO_START'
  );
}
