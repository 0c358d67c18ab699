import type { LlmActivities } from '@holdfast/contracts';
import { runActivity } from '@holdfast/temporal-runtime';
import { Context } from '@temporalio/activity';
import type { RunningSamples } from '../domain/running-samples.ts';

export function createLlmActivities(samples: RunningSamples): LlmActivities {
  return {
    sample: (args) => runActivity((signal) => samples.run(args, signal, { isLast: isLastAttempt() })),
  };
}

function isLastAttempt(): boolean {
  const { attempt, retryPolicy } = Context.current().info;
  return attempt >= (retryPolicy?.maximumAttempts ?? Number.POSITIVE_INFINITY);
}
