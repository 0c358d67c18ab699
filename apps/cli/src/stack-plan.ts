// stack-plan.ts: which of Holdfast's processes the embedded stack runs. Pure; what each is told: stack-environment.ts.
// P1  Every process comes up while the others are away, so all start at once; each is stopped before those it talks to.
// P2  The tool worker is a process of its own in every mode: tools never share memory with the control plane.
import { join } from 'node:path';
import type { ProcessSpec, Readiness } from '@holdfast/stack';
import {
  controlPlaneRoles,
  localMachine,
  toAddress,
  toRoleEnvironment,
  type EnvironmentOptions,
  type StackRole,
} from './stack-environment.ts';

export type StackPlanOptions = EnvironmentOptions & {
  /** Folder of the checkout. */
  root: string;
  /** Compiled code is kept below it, which makes a restart faster. */
  cacheDir: string;
  /** The Node that runs the processes. */
  node: string;
  /** Each service in a process of its own; otherwise the control plane shares one. */
  split: boolean;
  /** Whether all of these health routes answer that they are ready. */
  areReady: (urls: readonly string[]) => Promise<boolean>;
};

const servers = ['postgres', 'temporal', 'nats'];
const nodeFlags = ['--disable-warning=ExperimentalWarning'];
/** Makes the threads of an orchestrator cheaper; see the file. */
const workflowThread = 'services/orchestrator/src/workflow-thread.ts';
/** Services end within a few seconds of grace; this is for one that hangs. */
const stopTimeoutMs = 10_000;

export function planProcesses(options: StackPlanOptions): ProcessSpec[] {
  const controlPlane = options.split
    ? controlPlaneRoles.map((role) => toServiceSpec(role, options))
    : [toControlPlaneSpec(options)];
  return [...controlPlane, toToolWorkerSpec(options)];
}

function toControlPlaneSpec(options: StackPlanOptions): ProcessSpec {
  const environments = controlPlaneRoles.map((role) => toRoleEnvironment(role, options));
  const urls = controlPlaneRoles.map((role) => toReadyUrl(role, options));
  return toSpec(options, {
    name: 'control-plane',
    uses: servers,
    roles: [...controlPlaneRoles],
    entry: 'apps/cli/src/processes/control-plane.ts',
    env: Object.assign({}, ...environments) as Record<string, string>,
    readiness: { kind: 'probe', probe: () => options.areReady(urls) },
    addresses: Object.fromEntries(controlPlaneRoles.map((role) => [role, toAddress(options.ports[role])])),
  });
}

function toServiceSpec(role: StackRole, options: StackPlanOptions): ProcessSpec {
  return toSpec(options, {
    name: role,
    uses:
      role === 'history-store' ? servers : [...servers, options.split ? 'history-store' : 'control-plane'],
    roles: [role],
    entry: `services/${role}/src/main.ts`,
    env: toRoleEnvironment(role, options),
    readiness: { kind: 'http', url: toReadyUrl(role, options) },
    addresses: { [role]: toAddress(options.ports[role]) },
  });
}

function toToolWorkerSpec(options: StackPlanOptions): ProcessSpec {
  const role = `tool-worker:${localMachine}`;
  const spec = toServiceSpec('tool-worker', options);
  return { ...spec, roles: [role], addresses: { [role]: toAddress(options.ports['tool-worker']) } };
}

type Particulars = Pick<ProcessSpec, 'name' | 'roles' | 'env' | 'addresses'> & {
  uses: string[];
  entry: string;
  readiness: Readiness;
};

function toSpec(options: StackPlanOptions, { entry, ...particulars }: Particulars): ProcessSpec {
  const threads = particulars.roles.includes('orchestrator')
    ? ['--import', join(options.root, workflowThread)]
    : [];
  return {
    ...particulars,
    env: { ...particulars.env, NODE_COMPILE_CACHE: join(options.cacheDir, 'compile') },
    command: options.node,
    args: [...nodeFlags, ...threads, join(options.root, entry)],
    cwd: options.stateDir,
    dependsOn: [], // P1
    stopSignal: 'SIGTERM',
    stopTimeoutMs,
    parentPipe: true,
  };
}

function toReadyUrl(role: StackRole, options: StackPlanOptions): string {
  return `${toAddress(options.ports[role])}/readyz`;
}
