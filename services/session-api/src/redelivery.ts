// redelivery.ts: gives the engine again what the store holds and no turn has ended yet.
// Covers: Temporal away at submit, a crash between store and engine, a Temporal server that lost or rolled back its database.
// R1  Everything sent here was sent before or should have been; store and workflow ignore repeats, so replicas do not disturb each other.
// R2  A session that took its messages rests; one that cannot is tried after all others, so that it holds nobody up.
// R3  A batch in which nobody could be reached ends the pass: the engine is away.
import type { PendingInput } from '@holdfast/agent-loop';
import type { SessionId } from '@holdfast/protocol';
import type { Logger } from '@holdfast/telemetry';
import { pauseFor } from './domain/courier.ts';
import { findLostNotices } from './lost-notices.ts';
import type { SessionDelivery } from './ports/session-delivery.ts';
import type { SessionStore } from './ports/session-store.ts';

export type RedeliveryOptions = {
  store: Pick<SessionStore, 'listPendingInputs' | 'readSession' | 'readEvents'>;
  delivery: SessionDelivery;
  logger: Logger;
  intervalMs: number;
  /** Sessions with younger events are alive and left alone. */
  quietMs: number;
  /** How long an engine may take for one message; default 3 s. */
  attemptMs?: number;
};

/** A session that waits for a person or a machine is quiet, too; it needs no message more often than this. */
const restMs = 60_000;
const usualAttemptMs = 3_000;
const batchSize = 8;
const pageSize = 500;
/** How far back a lost notice is looked for. */
const recentEvents = 200;

type Attempts = Map<SessionId, { failures: number; restsUntil: number }>;

export function startRedelivery(options: RedeliveryOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const done = run(options, stopping.signal);
  return {
    stop: async () => {
      stopping.abort();
      await done;
    },
  };
}

async function run(options: RedeliveryOptions, signal: AbortSignal): Promise<void> {
  const attempts: Attempts = new Map();
  while (!signal.aborted) {
    try {
      await redeliver(options, attempts, signal);
    } catch (error) {
      options.logger.warn({ err: error }, 'redelivery found no store; it looks again soon');
    }
    await pauseFor(options.intervalMs, signal);
  }
}

async function redeliver(options: RedeliveryOptions, attempts: Attempts, signal: AbortSignal): Promise<void> {
  const pending = Map.groupBy(await listPending(options, signal), ({ sessionId }) => sessionId);
  for (const sessionId of attempts.keys()) if (!pending.has(sessionId)) attempts.delete(sessionId);
  const toFailures = (sessionId: SessionId) => attempts.get(sessionId)?.failures ?? 0;
  const due = [...pending]
    .filter(([sessionId]) => (attempts.get(sessionId)?.restsUntil ?? 0) <= performance.now())
    .toSorted(([a], [b]) => toFailures(a) - toFailures(b)); // R2
  for (let start = 0; start < due.length && !signal.aborted; start += batchSize) {
    const taken = await Promise.all(
      due.slice(start, start + batchSize).map(async ([sessionId, inputs]) => {
        const reached = await redeliverSession(options, { sessionId, inputs }, signal);
        const restsUntil = reached ? performance.now() + restMs : 0;
        attempts.set(sessionId, { failures: reached ? 0 : toFailures(sessionId) + 1, restsUntil });
        return reached;
      }),
    );
    if (!taken.includes(true)) return; // R3
  }
}

/** All of them, ids only: sessions that stay pending hide nobody behind them. */
async function listPending(
  { store, quietMs }: RedeliveryOptions,
  signal: AbortSignal,
): Promise<PendingInput[]> {
  const pending: PendingInput[] = [];
  while (!signal.aborted) {
    const after = pending.at(-1)?.position ?? 0;
    const page = await store.listPendingInputs({ quietMs, after, limit: pageSize });
    pending.push(...page);
    if (page.length < pageSize) break;
  }
  return pending;
}

/** Resolves to whether the engine took everything. */
async function redeliverSession(
  { store, delivery, logger, attemptMs = usualAttemptMs }: RedeliveryOptions,
  { sessionId, inputs }: { sessionId: SessionId; inputs: readonly PendingInput[] },
  stopping: AbortSignal,
): Promise<boolean> {
  try {
    const session = await store.readSession({ sessionId });
    if (session.state === 'closed') return true;
    const after = Math.max(0, session.lastEventSeq - recentEvents);
    const notices = findLostNotices(await store.readEvents({ sessionId, after, limit: recentEvents }));
    const address = { sessionId, machineId: session.settings.machineId };
    const toSignal = () => AbortSignal.any([stopping, AbortSignal.timeout(attemptMs)]);
    for (const { input } of inputs) await delivery.submit({ session: address, input }, toSignal());
    const turnId = notices.cancelledTurnId;
    if (turnId !== undefined) await delivery.interrupt({ sessionId, turnId }, toSignal());
    for (const approvalId of notices.approvalIds)
      await delivery.approve({ sessionId, approvalId }, toSignal());
    logger.info({ sessionId, inputs: inputs.length }, 'delivered again');
    return true;
  } catch (error) {
    if (!stopping.aborted) logger.warn({ err: error, sessionId }, 'not delivered yet');
    return false;
  }
}
