import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { toMasked, type Env } from '@holdfast/config';
import { queues } from '@holdfast/contracts';
import { createBus } from '@holdfast/events';
import { startHealthServer } from '@holdfast/http-service';
import type { MachineRegistration } from '@holdfast/protocol';
import { createHttpStore } from '@holdfast/store-client';
import { createLogger, type Logger } from '@holdfast/telemetry';
import { startWorker, type RunningService, type RunningWorker } from '@holdfast/temporal-runtime';
import { createActivities } from './activities.ts';
import { readConfig, type GatewayConfig } from './config.ts';
import { openGateway, type Gateway } from './gateway.ts';
import { keepRegistered, type Registration } from './registration.ts';
import { createGatewayRunner } from './run-call.ts';
import { readServerConfigs } from './server-config.ts';

/** How long the first registration waits for servers that are slow to start, so that early sessions see their tools. */
const firstCatalogMs = 10_000;
const shutdownGraceMs = 3_000;
/** Registering is repeated by itself; a request must not hold up a stop. */
const directoryPatienceMs = 2_000;
/** Calls wait for servers, not for this process. */
const callSlots = 200;
/** Of the messages between Holdfast's own parts. */
const protocolVersion = 1;

/** Holds the configured MCP servers and serves queue `mcp`. @throws ConfigError */
export async function startMcpGateway(env: Env): Promise<RunningService> {
  const config = readConfig(env);
  const logger = createLogger({ service: 'mcp-gateway', level: config.HOLDFAST_LOG_LEVEL });
  const servers = readServerConfigs({ path: config.HOLDFAST_MCP_CONFIG, env });
  logger.info({ config: toMasked(config), servers: servers.map((server) => server.name) }, 'starting');
  const parts: { worker?: RunningWorker; registration?: Registration } = {};
  const health = await startHealthServer({
    service: 'mcp-gateway',
    port: config.HOLDFAST_MCP_GATEWAY_HEALTH_PORT,
    logger,
    readiness: () => toReadiness(parts),
  });
  const gateway = openGateway({ servers, env, logger, onCatalogChange: () => parts.registration?.changed() });
  const identity = { machineId: `gateway-${config.HOLDFAST_GATEWAY_NAME}`, bootId: randomUUID() };
  const store = createHttpStore({ url: config.HOLDFAST_STORE_URL, token: config.HOLDFAST_INTERNAL_TOKEN });
  const runner = createGatewayRunner({ tools: gateway, store, logger, ...identity });
  const bus = createBus({ url: config.NATS_URL, name: 'mcp-gateway' });
  bus.subscribeCancels('gateway', (turn) => runner.endTurn(turn));
  parts.worker = startWorker({
    temporal: { address: config.TEMPORAL_ADDRESS, namespace: config.TEMPORAL_NAMESPACE },
    logger,
    identity: `mcp:${config.HOLDFAST_GATEWAY_NAME}`,
    shutdownGraceMs,
    options: {
      taskQueue: queues.gateway,
      activities: createActivities(runner),
      maxConcurrentActivityTaskExecutions: callSlots,
    },
  });
  const registering = register({ config, gateway, logger, identity, parts });
  return {
    stop: async () => {
      registering.cancel();
      await Promise.all([parts.registration?.stop(), parts.worker?.shutdown()]);
      await Promise.all([gateway.close(), bus.close(), health.close()]);
    },
  };
}

function register(options: {
  config: GatewayConfig;
  gateway: Gateway;
  logger: Logger;
  identity: Pick<MachineRegistration, 'machineId' | 'bootId'>;
  parts: { registration?: Registration };
}): { cancel(): void } {
  const { config, gateway, logger, identity, parts } = options;
  const cancelled = new AbortController();
  const { signal } = cancelled;
  const limit = delay(firstCatalogMs, undefined, { signal }).catch(() => undefined);
  void Promise.race([gateway.settled(), limit]).then(() => {
    if (signal.aborted) return;
    const url = config.HOLDFAST_STORE_URL;
    const directory = createHttpStore({
      url,
      token: config.HOLDFAST_INTERNAL_TOKEN,
      patienceMs: directoryPatienceMs,
    });
    const capabilities = {
      platform: process.platform,
      arch: process.arch,
      hostname: hostname(),
      workspace: '',
      protocol: protocolVersion,
    };
    parts.registration = keepRegistered({
      directory,
      logger,
      toRegistration: () => ({
        ...identity,
        kind: 'gateway',
        name: config.HOLDFAST_GATEWAY_NAME,
        catalog: gateway.catalog(),
        capabilities,
      }),
    });
  });
  return { cancel: () => cancelled.abort() };
}

function toReadiness(parts: { worker?: RunningWorker; registration?: Registration }): string | undefined {
  if (!parts.worker?.isRunning()) return 'not polling Temporal yet';
  const state = parts.registration?.state() ?? 'away';
  return state === 'away' ? 'not registered in the history store yet' : undefined;
}
