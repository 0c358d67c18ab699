// stack-environment.ts: what each process of the embedded stack is told. Pure.
// S1  A process gets the credentials that it needs and no others.
// S2  What a person set for Holdfast reaches the role it is meant for; the rest of the person's environment reaches only
//     those that run programs for the person: the tool worker and the MCP gateway.
import { join } from 'node:path';
import type { Env } from '@holdfast/config';
import type { Secrets, StackEndpoints } from '@holdfast/stack';

export const controlPlaneRoles = [
  'history-store',
  'session-api',
  'orchestrator',
  'llm-worker',
  'mcp-gateway',
] as const;

export type StackRole = (typeof controlPlaneRoles)[number] | 'tool-worker';

/** Every role listens on one port of 127.0.0.1: its API, or its health routes. */
export type StackPorts = Record<StackRole, number>;

/** What people call the machine that the stack runs on. */
export const localMachine = 'local';

export type EnvironmentOptions = {
  env: Env;
  stateDir: string;
  endpoints: StackEndpoints;
  secrets: Secrets;
  ports: StackPorts;
  /** Path of the workflow bundle. */
  workflowBundle: string;
  /** Path of the MCP configuration, when there is one. */
  mcpConfig?: string;
  /** Folder that sessions of the local machine work in unless they say otherwise. */
  workspace: string;
};

export function toAddress(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** What a program needs from the system it runs on. */
const systemVariables =
  /^(PATH|HOME|LANG|LC_ALL|TZ|TMPDIR|XDG_\w+|NODE_EXTRA_CA_CERTS|NODE_USE_ENV_PROXY|(HTTPS?|NO)_PROXY)$/i;

/** Variables of a person that tune a role. */
const tunable: Record<StackRole, readonly string[]> = {
  'history-store': ['HOLDFAST_MIGRATE'],
  'session-api': ['HOLDFAST_HEARTBEAT_TIMEOUT_MS', 'HOLDFAST_MACHINE_WAIT_MS', 'HOLDFAST_STEPS_PER_RUN'],
  orchestrator: ['HOLDFAST_WORKFLOW_CACHE_SIZE'],
  'llm-worker': [
    'OPENAI_API_KEY',
    'OPENAI_BASE_URL',
    'HOLDFAST_MODEL',
    'HOLDFAST_LLM_STREAM_IDLE_MS',
    'HOLDFAST_LLM_SHUTDOWN_GRACE_MS',
  ],
  'mcp-gateway': ['HOLDFAST_GATEWAY_NAME'],
  'tool-worker': [],
};

/** Where the embedded stack differs from the service's own default. */
const defaults: Partial<Record<StackRole, Record<string, string>>> = {
  // `holdfast down` is for now, and a model call that is cut is asked again after the next `up`.
  'llm-worker': { HOLDFAST_LLM_SHUTDOWN_GRACE_MS: '2000' },
};

export function toRoleEnvironment(role: StackRole, options: EnvironmentOptions): Record<string, string> {
  const { env } = options;
  return {
    ...toInherited(role, env),
    ...defaults[role],
    ...pick(env, [...tunable[role], 'HOLDFAST_LOG_LEVEL']),
    ...toConnections(role, options),
    ...toAssigned(role, options),
  };
}

/** How the role reaches the rest (S1). */
function toConnections(role: StackRole, options: EnvironmentOptions): Record<string, string> {
  const { endpoints, ports, secrets } = options;
  const { temporal, nats } = endpoints;
  const temporalVariables = { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: temporal.namespace };
  if (role === 'orchestrator') return temporalVariables;
  return {
    ...temporalVariables,
    NATS_URL: nats.url,
    HOLDFAST_STORE_URL: toAddress(ports['history-store']),
    HOLDFAST_INTERNAL_TOKEN: secrets.internalToken,
  };
}

/** What only this role is told. */
function toAssigned(role: StackRole, options: EnvironmentOptions): Record<string, string> {
  const { endpoints, secrets, stateDir } = options;
  const port = String(options.ports[role]);
  switch (role) {
    case 'history-store':
      return { HOLDFAST_STORE_PORT: port, DATABASE_URL: endpoints.database.url };
    case 'session-api':
      return {
        HOLDFAST_SESSION_API_PORT: port,
        HOLDFAST_API_TOKEN: secrets.apiToken,
        HOLDFAST_SECRET_KEY: secrets.secretKey,
      };
    case 'orchestrator':
      return { HOLDFAST_ORCHESTRATOR_HEALTH_PORT: port, HOLDFAST_WORKFLOW_BUNDLE: options.workflowBundle };
    case 'llm-worker':
      return { HOLDFAST_LLM_WORKER_HEALTH_PORT: port, HOLDFAST_SECRET_KEY: secrets.secretKey };
    case 'mcp-gateway':
      return {
        HOLDFAST_MCP_GATEWAY_HEALTH_PORT: port,
        ...(options.mcpConfig === undefined ? {} : { HOLDFAST_MCP_CONFIG: options.mcpConfig }),
      };
    case 'tool-worker':
      return {
        HOLDFAST_TOOL_WORKER_HEALTH_PORT: port,
        HOLDFAST_MACHINE_NAME: localMachine,
        HOLDFAST_MACHINE_STATE_DIR: toMachineStateDir(stateDir, localMachine),
        HOLDFAST_WORKSPACE: options.workspace,
      };
  }
}

/** Where a machine of this installation keeps its journal and lock. */
export function toMachineStateDir(stateDir: string, machine: string): string {
  return join(stateDir, 'machines', encodeURIComponent(machine));
}

const own = /^(HOLDFAST_|TEMPORAL_|NODE_COMPILE_CACHE$|DATABASE_URL$|NATS_URL$)/;

/** An MCP configuration may hand on any variable of the person; tools never see the key of the model (S1, S2). */
function toInherited(role: StackRole, env: Env): Record<string, string> {
  const given = Object.keys(env);
  if (role !== 'tool-worker' && role !== 'mcp-gateway') {
    return pick(
      env,
      given.filter((name) => systemVariables.test(name)),
    );
  }
  const names = given.filter((name) => !own.test(name));
  return pick(env, role === 'mcp-gateway' ? names : names.filter((name) => !name.startsWith('OPENAI_')));
}

function pick(env: Env, names: readonly string[]): Record<string, string> {
  const entries = names.map((name) => [name, env[name]] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
