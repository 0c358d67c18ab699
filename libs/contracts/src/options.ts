// options.ts: the one table of timeouts, heartbeats and retries. Sources: design §5 and the measurements in docs/design/performance.md.
import type { ActivityOptions } from '@temporalio/common';

/** What an installation may tune; carried by the session so that a replay uses the values the run started with. */
export type Tuning = {
  /** A lost LLM or tool worker is noticed after this time without a heartbeat. */
  heartbeatTimeoutMs: number;
  /** A call that no worker of its machine has taken after this time parks the turn as "waiting for machine". */
  machineWaitMs: number;
  /** A run continues as new after this many steps, or earlier when Temporal suggests it. */
  stepsPerRun: number;
};

export const defaultTuning: Tuning = { heartbeatTimeoutMs: 15_000, machineWaitMs: 15_000, stepsPerRun: 250 };

/** Heartbeats go out by timer at this pace, so a cancel arrives within it plus the throttle (1 s). */
export const heartbeatIntervalMs = 500;

/**
 * The model call. 30 minutes cover long reasoning; a silent stream ends by the worker's own idle timer long before.
 * The LLM worker says how long each pause is and which failure is the last one; so there is no limit of attempts here, and a turn
 * waits for the network as long as it takes. The schedule here is for attempts whose worker was lost.
 * TRY_CANCEL: an interrupt does not wait for the worker.
 */
export function toSampleOptions(tuning: Tuning): ActivityOptions {
  return {
    startToCloseTimeout: '30 minutes',
    scheduleToStartTimeout: '2 hours',
    heartbeatTimeout: tuning.heartbeatTimeoutMs,
    cancellationType: 'TRY_CANCEL',
    retry: { initialInterval: 500, backoffCoefficient: 2, maximumInterval: '60 seconds' },
  };
}

/**
 * One call. Repeating the dispatch is safe because the claim in the store decides who runs it.
 * `parked`: the turn waits for its machine as long as it takes.
 */
export function toCallOptions(tuning: Tuning, dispatch: { parked: boolean }): ActivityOptions {
  return {
    startToCloseTimeout: '24 hours',
    ...(dispatch.parked ? {} : { scheduleToStartTimeout: tuning.machineWaitMs }),
    heartbeatTimeout: tuning.heartbeatTimeoutMs,
    cancellationType: 'TRY_CANCEL',
    retry: {
      initialInterval: 200,
      backoffCoefficient: 2,
      maximumInterval: '10 seconds',
      maximumAttempts: 100,
    },
  };
}

/** Bookkeeping in the store; it must happen, so it is repeated until it does. */
export const historyOptions: ActivityOptions = {
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: 100, backoffCoefficient: 2, maximumInterval: '5 seconds' },
};
