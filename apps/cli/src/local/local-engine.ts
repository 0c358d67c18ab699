// local-engine.ts: the agent in one process: the same loop, model side, tools and MCP client as the services, over a store in memory.
// Survives nothing. No Temporal, no NATS, no database, no port but that of a scripted model.
import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import {
  EventLog,
  InProcessEngine,
  type AgentSession,
  type CallRunner,
  type HistoryStore,
} from '@holdfast/agent-loop';
import { createSecretBox, type Env } from '@holdfast/config';
import { createMemoryStore } from '@holdfast/history-store';
import { createModelDirectory, createModelStreamer, withRetries } from '@holdfast/llm-worker';
import { createGatewayRunner, openGateway, readServerConfigs, type Gateway } from '@holdfast/mcp-gateway';
import type { Delta, Machine, MachineRegistration } from '@holdfast/protocol';
import { toNewSession, type NewSessionRequest } from '@holdfast/session-api';
import { createSessionCallRunner } from '@holdfast/session-tools';
import type { Logger } from '@holdfast/telemetry';
import { createCallRunner, openMachine } from '@holdfast/tool-worker';

export type LocalEngineOptions = {
  /** What the tools of this machine keep; created when absent, used by one engine at a time. */
  stateDir: string;
  /** Absolute path of the folder that sessions work in unless they say otherwise. */
  workspace: string;
  /** What commands and MCP servers may see; also names the model endpoint (OPENAI_BASE_URL, OPENAI_API_KEY, HOLDFAST_MODEL). */
  env: Env;
  /** Path of the MCP configuration. */
  mcpConfig?: string;
  logger: Logger;
  /** False where no person can answer questions while a turn runs. Default: true. */
  answerable?: boolean;
  /** Live output; must not throw. */
  onDelta?: (delta: Delta) => void;
};

export type LocalEngine = {
  readonly store: HistoryStore;
  readonly machine: Machine;
  /** As the session-api does it; an input starts the first turn. @throws Failure input.invalid */
  createSession(request: NewSessionRequest): Promise<AgentSession>;
  /** Ends running commands, MCP servers and the scripted model. Idempotent. */
  close(): Promise<void>;
};

/** The name of the machine, as in the stack. */
const machineName = 'local';
/** A third of the store's lease. */
const renewalMs = 5_000;
/** How long the first session waits for MCP servers that are slow to start. */
const firstCatalogMs = 10_000;
const closeLimitMs = 2_000;
const defaultModel = 'gpt-5.5';

/** @throws Failure machine.lease-held when the state folder is in use, ConfigError for a wrong MCP configuration */
export async function createLocalEngine(options: LocalEngineOptions): Promise<LocalEngine> {
  const { env, logger, onDelta = () => undefined } = options;
  const servers = readServerConfigs({ path: options.mcpConfig, env });
  const log = new EventLog();
  const store = createMemoryStore({ onEvents: (events) => log.publish(events) });
  const machine = openMachine({
    ...options,
    name: machineName,
    supervised: false,
    store,
    publishDelta: onDelta,
  });
  const secrets = createSecretBox(randomBytes(32).toString('base64'));
  const models = createModelDirectory({
    baseUrl: env['OPENAI_BASE_URL'] || undefined,
    apiKey: env['OPENAI_API_KEY'] || undefined,
    defaultModel: env['HOLDFAST_MODEL'] || defaultModel,
    secretBox: secrets,
  });
  const gatewayIdentity = { machineId: 'gateway-mcp', bootId: randomUUID() };
  const gateway = servers.length === 0 ? undefined : openGateway({ servers, env, logger });
  const leases = await register(store, [
    machine.registration,
    ...(gateway ? [await toGatewayRegistration(gateway, gatewayIdentity)] : []),
  ]);
  machine.confirmBoot();
  const engine = new InProcessEngine({
    store,
    log,
    model: withRetries(createModelStreamer({ store, models, deltas: { publishDelta: onDelta } })),
    runners: {
      machine: createCallRunner(machine),
      workflow: createSessionRunner(store, options),
      ...(gateway && {
        gateway: createGatewayRunner({ tools: gateway, store, logger, ...gatewayIdentity }),
      }),
    },
  });
  const own = await findMachine(store, machine.registration.machineId);
  let closed: Promise<unknown> | undefined;
  return {
    store,
    machine: own,
    createSession: async (request) => {
      const session = await store.createSession(
        toNewSession(request, { machine: own, secrets, now: new Date() }),
      );
      const opened = engine.open(session.sessionId);
      if (request.input) await opened.submit(request.input);
      return opened;
    },
    close: async () => {
      clearInterval(leases);
      closed ??= Promise.all([machine.close({ limitMs: closeLimitMs }), gateway?.close(), models.close()]);
      await closed;
    },
  };
}

function createSessionRunner(
  store: HistoryStore,
  { answerable = true }: Pick<LocalEngineOptions, 'answerable'>,
): CallRunner {
  const calls = createSessionCallRunner({ store, answerable });
  return { run: ({ call, ...request }) => calls.run({ ...request, callId: call.callId }) };
}

async function findMachine(store: HistoryStore, machineId: string): Promise<Machine> {
  const machine = (await store.listMachines()).find((known) => known.machineId === machineId);
  if (!machine) throw new Error('the machine that was just registered is not in the store');
  return machine;
}

/** Registers once and renews for as long as the engine lives. */
async function register(
  store: HistoryStore,
  registrations: readonly MachineRegistration[],
): Promise<NodeJS.Timeout> {
  for (const registration of registrations) await store.registerMachine(registration);
  const renew = (): void => {
    for (const { machineId, bootId } of registrations) void store.renewLease({ machineId, bootId });
  };
  return setInterval(renew, renewalMs).unref();
}

async function toGatewayRegistration(
  gateway: Gateway,
  identity: Pick<MachineRegistration, 'machineId' | 'bootId'>,
): Promise<MachineRegistration> {
  await Promise.race([gateway.settled(), delay(firstCatalogMs, undefined, { ref: false })]);
  const { platform, arch } = process;
  const capabilities = { platform, arch, hostname: hostname(), workspace: '', protocol: 1 };
  return { ...identity, kind: 'gateway', name: 'mcp', catalog: gateway.catalog(), capabilities };
}
