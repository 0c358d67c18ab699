import type { CallActivities } from '@holdfast/contracts';
import { runActivity } from '@holdfast/temporal-runtime';
import type { GatewayRunner } from './run-call.ts';

export function createActivities(runner: GatewayRunner): CallActivities {
  return {
    runCall: ({ sessionId, callId }) =>
      runActivity((signal) => runner.run({ sessionId, call: { callId } }, signal)),
  };
}
