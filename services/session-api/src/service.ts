import type { AddressInfo } from 'node:net';
import type { HistoryStore } from '@holdfast/agent-loop';
import { createSecretBox, toMasked, type Env } from '@holdfast/config';
import { createBus } from '@holdfast/events';
import { createHttpStore } from '@holdfast/store-client';
import { createLogger, type Logger } from '@holdfast/telemetry';
import { createLazyClient, type RunningService } from '@holdfast/temporal-runtime';
import { createTemporalDelivery } from './adapters/temporal-delivery.ts';
import { readConfig, toTuning, type SessionApiConfig } from './config.ts';
import { createCourier } from './domain/courier.ts';
import { createMachineNames } from './domain/machine-names.ts';
import { startRedelivery } from './redelivery.ts';
import { createSessionServer } from './server.ts';

/** People wait for these requests, and their clients repeat them. */
const storePatienceMs = 10_000;
const readinessLimitMs = 1_000;

/**
 * The public door. Comes up while Temporal, NATS and the store are away. `peers.store` replaces the HTTP client where the
 * history store shares the process. @throws ConfigError
 */
export async function startSessionApi(
  env: Env,
  peers: { store?: HistoryStore } = {},
): Promise<RunningService & { port: number }> {
  const config = readConfig(env);
  const logger = createLogger({ service: 'session-api', level: config.HOLDFAST_LOG_LEVEL });
  logger.info({ config: toMasked(config) }, 'starting');
  const address = { url: config.HOLDFAST_STORE_URL, token: config.HOLDFAST_INTERNAL_TOKEN };
  const stopping = new AbortController();
  const patience = { patienceMs: storePatienceMs, signal: stopping.signal };
  const store = peers.store ?? createHttpStore({ ...address, ...patience });
  const bus = createBus({ url: config.NATS_URL, name: 'session-api' });
  const temporal = createLazyClient({
    address: config.TEMPORAL_ADDRESS,
    namespace: config.TEMPORAL_NAMESPACE,
    identity: 'session-api',
  });
  const delivery = createTemporalDelivery({ client: temporal.client, tuning: toTuning(config) });
  const courier = createCourier({ logger });
  const app = await createSessionServer({
    store,
    bus,
    delivery,
    courier,
    machines: createMachineNames(store),
    secrets: createSecretBox(config.HOLDFAST_SECRET_KEY),
    token: config.HOLDFAST_API_TOKEN,
    logger,
    readiness: () => checkStore(config.HOLDFAST_STORE_URL),
  });
  await app.listen({ host: config.HOLDFAST_SESSION_API_HOST, port: config.HOLDFAST_SESSION_API_PORT });
  const redelivery = startRedelivery({ store, delivery, logger, ...toRedeliveryPace(config) });
  warmUp(temporal.client, logger);
  return {
    port: toPort(app.server.address()),
    stop: async () => {
      stopping.abort();
      await app.close();
      await Promise.all([redelivery.stop(), courier.stop()]);
      await Promise.all([bus.close(), temporal.close()]);
    },
  };
}

function toRedeliveryPace(config: SessionApiConfig): { intervalMs: number; quietMs: number } {
  return {
    intervalMs: config.HOLDFAST_SESSION_API_REDELIVERY_INTERVAL_MS,
    quietMs: config.HOLDFAST_SESSION_API_REDELIVERY_QUIET_MS,
  };
}

async function checkStore(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(readinessLimitMs) });
    return response.ok ? undefined : `the history store is not ready: HTTP ${response.status}`;
  } catch {
    return 'the history store cannot be reached';
  }
}

/** The first prompt should not pay for the connection to Temporal. */
function warmUp(client: ReturnType<typeof createLazyClient>['client'], logger: Logger): void {
  client.workflowService.getSystemInfo({}).catch((error: unknown) => {
    logger.info({ err: error }, 'Temporal cannot be reached yet');
  });
}

function toPort(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address ? address.port : 0;
}
