import { toMasked, type Env } from '@holdfast/config';
import { toMachineQueue } from '@holdfast/contracts';
import { createBus, type EventBus, type MachineRequest } from '@holdfast/events';
import type { Failure } from '@holdfast/failures';
import { startHealthServer } from '@holdfast/http-service';
import { createHttpStore } from '@holdfast/store-client';
import { createLogger, type Logger } from '@holdfast/telemetry';
import {
  createLazyClient,
  startWorker,
  type RunningService,
  type RunningWorker,
} from '@holdfast/temporal-runtime';
import { createCallActivities } from './activities.ts';
import { startSweep, type SweepOptions } from './closed-sessions.ts';
import { readConfig, type ToolWorkerConfig } from './config.ts';
import { keepLease, type Lease } from './lease.ts';
import { openMachine, type Machine } from './machine.ts';
import { failUnanswered } from './unanswered-dispatches.ts';

/** Running calls may go on this long after a stop was asked for. */
const graceMs = 5_000;
/** Enough to kill a command and to report it. */
const reportMs = 2_000;
const leasePatienceMs = 4_000;

export type ToolWorkerService = RunningService & {
  /** Resolves when the machine belongs to another process by now; the service should then be stopped. Never rejects. */
  lost: Promise<Failure>;
};

/**
 * Serves the calls of one machine. Comes up while Temporal, NATS and the history store are away.
 * @throws ConfigError
 * @throws Failure machine.lease-held while another process serves the same state folder
 */
export async function startToolWorker(env: Env): Promise<ToolWorkerService> {
  const config = readConfig(env);
  const logger = createLogger({ service: 'tool-worker', level: config.HOLDFAST_LOG_LEVEL });
  logger.info({ config: toMasked(config) }, 'starting');
  const access = { url: config.HOLDFAST_STORE_URL, token: config.HOLDFAST_INTERNAL_TOKEN };
  const bus = createBus({ url: config.NATS_URL, name: `tool-worker ${config.HOLDFAST_MACHINE_NAME}` });
  const machine = openMachine({
    stateDir: config.HOLDFAST_MACHINE_STATE_DIR,
    name: config.HOLDFAST_MACHINE_NAME,
    workspace: config.HOLDFAST_WORKSPACE,
    env,
    supervised: config.HOLDFAST_PARENT_PIPE === '1',
    store: createHttpStore(access),
    publishDelta: (delta) => bus.publishDelta(delta),
    addInput: (request) => createHttpStore(access).addInput(request),
    logger,
  });
  const lease = keepLease({
    store: createHttpStore({ ...access, patienceMs: leasePatienceMs }),
    machine,
    logger,
  });
  void lease.lost.then(() => machine.calls.refuse());
  const worker = startMachineWorker(config, machine, logger);
  const host = watchHost(machine, logger);
  const endRecovery = startRecovery(config, { machine, lease, logger });
  const endHints = followHints(bus, machine, lease);
  const endAnswers = answerPeople(bus, { machine, lease, store: createHttpStore(access), logger });
  const health = await startHealthServer({
    service: 'tool-worker',
    port: config.HOLDFAST_TOOL_WORKER_HEALTH_PORT,
    logger,
    readiness: () => toReadiness({ lease, worker, host }),
  });
  const stop = async () => {
    endRecovery();
    await worker.shutdown();
    endHints();
    endAnswers();
    await machine.close({ limitMs: reportMs });
    await lease.release();
    await Promise.all([bus.close(), health.close()]);
  };
  let stopped: Promise<void> | undefined;
  return { lost: lease.lost, stop: () => (stopped ??= stop()) };
}

function startMachineWorker(config: ToolWorkerConfig, machine: Machine, logger: Logger): RunningWorker {
  return startWorker({
    temporal: { address: config.TEMPORAL_ADDRESS, namespace: config.TEMPORAL_NAMESPACE },
    logger,
    identity: toIdentity(config),
    shutdownGraceMs: graceMs,
    options: {
      taskQueue: toMachineQueue(machine.registration.machineId),
      activities: createCallActivities(machine.calls),
      maxConcurrentActivityTaskExecutions: 64,
      activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 3 },
    },
  });
}

/** What the machine hears ahead of Temporal: turns that ended, and calls that are about to be dispatched. */
function followHints(bus: EventBus, machine: Machine, lease: Lease): () => void {
  const { machineId } = machine.registration;
  const ends = [bus.subscribeCancels(machineId, (hint) => machine.calls.stopTurn(hint))];
  void lease.held.then(() =>
    ends.push(bus.subscribeCalls(machineId, (hint) => machine.calls.anticipate(hint))),
  );
  return () => {
    for (const end of ends) end();
  };
}

/** People ask over the bus; the commands of closed sessions are ended also without a word from there. */
function answerPeople(
  bus: EventBus,
  options: { machine: Machine; lease: Lease; store: SweepOptions['store']; logger: Logger },
): () => void {
  const { machine, lease, store, logger } = options;
  const { terminals, workspaces, registration } = machine;
  const answer = (request: MachineRequest) =>
    request.op === 'undo' ? workspaces.undo(request) : terminals.answer(request);
  const ends = [bus.answerMachine(registration.machineId, answer)];
  void lease.held.then(() => ends.push(startSweep({ terminals, store, logger })));
  return () => {
    for (const end of ends) end();
  };
}

/** Short, because Temporal stores it in every event. */
function toIdentity(config: ToolWorkerConfig): string {
  return `tool:${config.HOLDFAST_MACHINE_NAME}`;
}

/** Commands wait for the process host on their own; this only shows in the readiness. */
function watchHost(machine: Machine, logger: Logger): { ready: boolean } {
  const host = { ready: false };
  machine.ready().then(
    () => {
      host.ready = true;
    },
    (error: unknown) => logger.error({ err: error }, 'the process host cannot be started'),
  );
  return host;
}

/** What an earlier process left: Temporal is told at once, the calls are taken up as soon as this process has the lease. */
function startRecovery(
  config: ToolWorkerConfig,
  { machine, lease, logger }: { machine: Machine; lease: Lease; logger: Logger },
): () => void {
  void lease.held.then(() => machine.calls.recover());
  const dispatches = machine.unansweredDispatches();
  if (dispatches.length === 0) return () => undefined;
  const stop = new AbortController();
  const temporal = createLazyClient({
    address: config.TEMPORAL_ADDRESS,
    namespace: config.TEMPORAL_NAMESPACE,
    identity: toIdentity(config),
  });
  void failUnanswered(temporal.client, dispatches, { logger, signal: stop.signal }).then(() =>
    temporal.close(),
  );
  return () => stop.abort();
}

function toReadiness(parts: {
  lease: Lease;
  worker: RunningWorker;
  host: { ready: boolean };
}): string | undefined {
  if (!parts.lease.isHeld()) return 'not registered with the history store yet';
  if (!parts.worker.isRunning()) return 'not polling Temporal yet';
  return parts.host.ready ? undefined : 'the process host is not up yet';
}
