// sample.ts: one attempt at a step as an activity. Temporal waits between attempts, the rules of domain/retries.ts say how long.
// How many attempts ended without a network goes from attempt to attempt with the heartbeats.
import type { LlmActivities } from '@holdfast/contracts';
import { Failure } from '@holdfast/failures';
import { runActivity, toApplicationFailure } from '@holdfast/temporal-runtime';
import { Context } from '@temporalio/activity';
import type { SampleAttempt } from '../domain/ports.ts';
import { countedAttempts, toCount, toFollowing, toNextAttempt } from '../domain/retries.ts';
import type { RunningSamples } from '../domain/running-samples.ts';

type Carried = Pick<SampleAttempt, 'networkWaits'>;

export function createLlmActivities(samples: RunningSamples): LlmActivities {
  return {
    sample: (args) => {
      const { attempt: number, heartbeatDetails } = Context.current().info;
      const carried: Carried = { networkWaits: toNetworkWaits(heartbeatDetails) };
      return runActivity(
        async (signal) => {
          const attempt: SampleAttempt = { number, ...carried };
          assertUnderLimit(attempt);
          try {
            return await samples.run(args, signal, attempt);
          } catch (error) {
            if (signal.aborted || !(error instanceof Failure)) throw error;
            const next = toNextAttempt(error, attempt);
            if (!next) throw toApplicationFailure(error, { repeat: false });
            carried.networkWaits = toFollowing(attempt, next).networkWaits;
            throw toApplicationFailure(error, { repeat: true, pauseMs: next.pauseMs });
          }
        },
        { carried },
      );
    },
  };
}

/** A step that takes its workers down with it is not given to one more; their attempts ended without telling anything. */
function assertUnderLimit(attempt: SampleAttempt): void {
  if (toCount(attempt) <= countedAttempts) return;
  throw toApplicationFailure(new Failure('model.unavailable'), { repeat: false });
}

function toNetworkWaits(details: unknown): number {
  const waits =
    typeof details === 'object' && details !== null && 'networkWaits' in details ? details.networkWaits : 0;
  return typeof waits === 'number' ? waits : 0;
}
