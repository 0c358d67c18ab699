import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@holdfast/telemetry';
import { ApplicationFailure } from '@temporalio/activity';
import { ActivityNotFoundError, type Client } from '@temporalio/client';
import type { CallOrigin } from './journal.ts';

const retryMs = 500;
/** After this time Temporal has noticed the missing heartbeats itself. */
const patienceMs = 60_000;

/**
 * Tells Temporal that the process which took these dispatches is dead, so that they are repeated now and not after the heartbeat
 * timeout. Dispatches that Temporal has given up already are passed over. Never rejects.
 */
export async function failUnanswered(
  client: Client,
  dispatches: readonly CallOrigin[],
  options: { logger: Logger; signal: AbortSignal },
): Promise<void> {
  await Promise.all(dispatches.map((dispatch) => fail(client, dispatch, options)));
}

async function fail(
  client: Client,
  dispatch: CallOrigin,
  { logger, signal }: { logger: Logger; signal: AbortSignal },
): Promise<void> {
  const failure = ApplicationFailure.create({
    message: 'The tool worker that took this call died; it is dispatched again.',
    type: 'worker-restarted',
    nextRetryDelay: 1,
  });
  const deadline = performance.now() + patienceMs;
  while (!signal.aborted && performance.now() < deadline) {
    try {
      await client.activity.fail(dispatch, failure);
      return;
    } catch (error) {
      if (error instanceof ActivityNotFoundError) return;
      logger.debug({ err: error }, 'Temporal was not told of a dead dispatch; trying again');
      await delay(retryMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
