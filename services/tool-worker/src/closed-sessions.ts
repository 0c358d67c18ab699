// closed-sessions.ts: ends the background commands of sessions that were closed while nobody could tell this machine.
import type { SessionLog } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import type { SessionId } from '@holdfast/protocol';
import type { Logger } from '@holdfast/telemetry';
import type { BackgroundTerminals } from './background-terminals.ts';

/** The word of a close normally comes at once; this covers a lost one. */
const sweepMs = 30_000;

export type SweepOptions = {
  terminals: BackgroundTerminals;
  store: Pick<SessionLog, 'readSession'>;
  logger: Logger;
};

/** Looks now and then again and again. Returns how to end that. */
export function startSweep(options: SweepOptions): () => void {
  const look = () =>
    void sweepClosedSessions(options).catch((error: unknown) =>
      options.logger.debug({ err: error }, 'closed sessions could not be looked for'),
    );
  const timer = setInterval(look, sweepMs).unref();
  look();
  return () => clearInterval(timer);
}

/** @throws Failure or Error when the store or the process host cannot be asked; the next look then does it */
export async function sweepClosedSessions({ terminals, store }: SweepOptions): Promise<void> {
  for (const sessionId of await terminals.owners()) {
    if (await isClosed(store, sessionId)) await terminals.answer({ op: 'close', sessionId });
  }
}

async function isClosed(store: SweepOptions['store'], sessionId: SessionId): Promise<boolean> {
  try {
    return (await store.readSession({ sessionId })).state === 'closed';
  } catch (error) {
    if (error instanceof Failure && error.code === 'session.unknown') return true;
    throw error;
  }
}
