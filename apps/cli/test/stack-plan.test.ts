import { describe, expect, test } from 'vitest';
import { planProcesses, type StackPlanOptions } from '../src/stack-plan.ts';

const options: StackPlanOptions = {
  root: '/checkout',
  stateDir: '/state',
  cacheDir: '/cache',
  node: '/bin/node',
  env: {
    PATH: '/usr/bin',
    HOME: '/home/me',
    EDITOR: 'vi',
    OPENAI_API_KEY: 'key',
    HOLDFAST_MODEL: 'gpt-6',
    HOLDFAST_LOG_LEVEL: 'debug',
    HOLDFAST_STEPS_PER_RUN: '3',
    HOLDFAST_STATE_DIR: '/state',
    DATABASE_URL: 'postgres://mine',
  },
  endpoints: {
    temporal: { address: '127.0.0.1:1', namespace: 'holdfast', external: false },
    database: { url: 'postgres://holdfast:pw@127.0.0.1:2/holdfast', external: false },
    nats: { url: 'nats://nt@127.0.0.1:3', external: false },
  },
  secrets: { postgresPassword: 'pw', natsToken: 'nt', internalToken: 'it', apiToken: 'at', secretKey: 'sk' },
  ports: {
    'history-store': 11,
    'session-api': 12,
    orchestrator: 13,
    'llm-worker': 14,
    'mcp-gateway': 15,
    'tool-worker': 16,
  },
  workflowBundle: '/cache/workflows/x.js',
  mcpConfig: '/config/mcp.json',
  workspace: '/home/me',
  split: true,
  areReady: async () => true,
};

const system = {
  PATH: '/usr/bin',
  HOME: '/home/me',
  NODE_COMPILE_CACHE: '/cache/compile',
  HOLDFAST_LOG_LEVEL: 'debug',
};
const temporal = { TEMPORAL_ADDRESS: '127.0.0.1:1', TEMPORAL_NAMESPACE: 'holdfast' };
const peers = {
  ...temporal,
  NATS_URL: 'nats://nt@127.0.0.1:3',
  HOLDFAST_STORE_URL: 'http://127.0.0.1:11',
  HOLDFAST_INTERNAL_TOKEN: 'it',
};

const environments = {
  'history-store': {
    ...system,
    ...peers,
    HOLDFAST_STORE_PORT: '11',
    DATABASE_URL: 'postgres://holdfast:pw@127.0.0.1:2/holdfast',
  },
  'session-api': {
    ...system,
    ...peers,
    HOLDFAST_STEPS_PER_RUN: '3',
    HOLDFAST_SESSION_API_PORT: '12',
    HOLDFAST_API_TOKEN: 'at',
    HOLDFAST_SECRET_KEY: 'sk',
  },
  orchestrator: {
    ...system,
    ...temporal,
    HOLDFAST_ORCHESTRATOR_HEALTH_PORT: '13',
    HOLDFAST_WORKFLOW_BUNDLE: '/cache/workflows/x.js',
  },
  'llm-worker': {
    ...system,
    ...peers,
    OPENAI_API_KEY: 'key',
    HOLDFAST_MODEL: 'gpt-6',
    HOLDFAST_LLM_SHUTDOWN_GRACE_MS: '2000',
    HOLDFAST_LLM_WORKER_HEALTH_PORT: '14',
    HOLDFAST_SECRET_KEY: 'sk',
  },
  'mcp-gateway': {
    ...system,
    ...peers,
    EDITOR: 'vi',
    OPENAI_API_KEY: 'key',
    HOLDFAST_MCP_GATEWAY_HEALTH_PORT: '15',
    HOLDFAST_MCP_CONFIG: '/config/mcp.json',
  },
};

const servers = ['postgres', 'temporal', 'nats'];

const toolWorker = {
  name: 'tool-worker',
  roles: ['tool-worker:local'],
  command: '/bin/node',
  args: ['--disable-warning=ExperimentalWarning', '/checkout/services/tool-worker/src/main.ts'],
  env: {
    ...system,
    ...peers,
    EDITOR: 'vi',
    HOLDFAST_TOOL_WORKER_HEALTH_PORT: '16',
    HOLDFAST_MACHINE_NAME: 'local',
    HOLDFAST_MACHINE_STATE_DIR: '/state/machines/local',
    HOLDFAST_WORKSPACE: '/home/me',
  },
  cwd: '/state',
  dependsOn: [],
  uses: [...servers, 'history-store'],
  readiness: { kind: 'http', url: 'http://127.0.0.1:16/readyz' },
  addresses: { 'tool-worker:local': 'http://127.0.0.1:16' },
  stopSignal: 'SIGTERM',
  stopTimeoutMs: 10_000,
  parentPipe: true,
};

/** Whoever runs workflows loads what makes their threads cheaper. */
function toFlags(role: string): string[] {
  const threads = ['--import', '/checkout/services/orchestrator/src/workflow-thread.ts'];
  return ['--disable-warning=ExperimentalWarning', ...(role === 'orchestrator' ? threads : [])];
}

describe('the plan of the stack', () => {
  test('with split processes has one for each service, each told only what it needs', () => {
    const { command, cwd, dependsOn, stopSignal, stopTimeoutMs, parentPipe } = toolWorker;
    const services = Object.entries(environments).map(([role, env], index) => ({
      name: role,
      command,
      cwd,
      dependsOn,
      stopSignal,
      stopTimeoutMs,
      parentPipe,
      uses: role === 'history-store' ? servers : toolWorker.uses,
      roles: [role],
      args: [...toFlags(role), `/checkout/services/${role}/src/main.ts`],
      env,
      readiness: { kind: 'http', url: `http://127.0.0.1:${11 + index}/readyz` },
      addresses: { [role]: `http://127.0.0.1:${11 + index}` },
    }));
    expect(planProcesses(options)).toEqual([...services, toolWorker]);
  });

  test('otherwise has one control plane of five roles beside the tool worker', async () => {
    const asked: (readonly string[])[] = [];
    const [controlPlane, ...others] = planProcesses({
      ...options,
      split: false,
      areReady: async (urls) => {
        asked.push(urls);
        return false;
      },
    });
    const roles = ['history-store', 'session-api', 'orchestrator', 'llm-worker', 'mcp-gateway'];
    expect(others).toEqual([{ ...toolWorker, uses: [...servers, 'control-plane'] }]);
    expect(controlPlane).toEqual({
      ...toolWorker,
      uses: servers,
      name: 'control-plane',
      roles,
      args: [...toFlags('orchestrator'), '/checkout/apps/cli/src/processes/control-plane.ts'],
      env: Object.assign({}, ...Object.values(environments)),
      readiness: { kind: 'probe', probe: expect.any(Function) },
      addresses: Object.fromEntries(roles.map((role, index) => [role, `http://127.0.0.1:${11 + index}`])),
    });
    const ready = controlPlane?.readiness.kind === 'probe' ? await controlPlane.readiness.probe() : undefined;
    expect({ ready, asked }).toEqual({
      ready: false,
      asked: [roles.map((_, index) => `http://127.0.0.1:${11 + index}/readyz`)],
    });
  });

  test('names no MCP configuration when there is none', () => {
    const { mcpConfig, ...without } = options;
    const gateway = planProcesses(without).find(({ name }) => name === 'mcp-gateway');
    expect(mcpConfig).toBeDefined();
    expect(gateway?.env).not.toHaveProperty('HOLDFAST_MCP_CONFIG');
  });
});
