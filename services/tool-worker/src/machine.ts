// machine.ts: everything of a machine that needs neither Temporal nor NATS: its identity, its lock, its journal, its process host, its tools.
import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { BlobStore, CallLog, CallRunner, SessionLog } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import { tryLock } from '@holdfast/kernel-lock';
import type { MachineRegistration } from '@holdfast/protocol';
import { toCatalog } from '@holdfast/store-client';
import type { Logger } from '@holdfast/telemetry';
import { createBackgroundTerminals, type BackgroundTerminals } from './background-terminals.ts';
import { createCallExecutor, type CallExecutor } from './call-executor.ts';
import { createCommandEnvironment } from './command-environment.ts';
import { startExitNotices } from './exit-notices.ts';
import { Journal, type CallOrigin } from './journal.ts';
import type { DeltaPublisher } from './live-output.ts';
import { openIdentity } from './machine-identity.ts';
import { ProcessHostClient } from './process-host/client.ts';
import { readKernelBoot, readProcess } from './process-host/process-table.ts';
import { createRegistry } from './registry.ts';
import { createOutputKeeper } from './stored-output.ts';
import { createWorkspaceGuard, type WorkspaceGuard } from './workspace/workspace-guard.ts';

export type MachineOptions = {
  /** Created when absent; belongs to one machine. */
  stateDir: string;
  name: string;
  /** Absolute path of the folder this machine is for. */
  workspace: string;
  /** The environment of this process; commands see what is left of it without Holdfast's own settings. */
  env: Readonly<Record<string, string | undefined>>;
  /** True when a supervisor holds this process' stdin open: the process host then ends with the supervisor. */
  supervised: boolean;
  store: Pick<CallLog, 'claimCall' | 'askApproval' | 'finishCall'> & Pick<BlobStore, 'putBlob'>;
  /** Live output of commands. */
  publishDelta?: DeltaPublisher;
  /** Takes inputs for sessions from the machine itself; without it no command can ask to be told of its end. */
  addInput?: SessionLog['addInput'];
  logger: Logger;
};

export type Machine = {
  /** What the store has to know before a session can use the machine; without `replaces`. */
  registration: MachineRegistration;
  /** Boots that may still have the lease although they are dead, newest first. */
  earlierBoots: readonly string[];
  /** To be called when the store has taken the registration. */
  confirmBoot(): void;
  calls: CallExecutor;
  terminals: BackgroundTerminals;
  /** What calls changed in their workspaces, and the way back. */
  workspaces: Pick<WorkspaceGuard, 'undo' | 'diff'>;
  /** Dispatches that an earlier process of this machine did not answer. */
  unansweredDispatches(): CallOrigin[];
  /** Resolves when commands can run without waiting. @throws Error when the process host cannot be started */
  ready(): Promise<void>;
  /** Stops running calls within the limit, ends the process host with everything in it, gives the lock back. Idempotent. */
  close(options: { limitMs: number }): Promise<void>;
};

/** Version of the calls between workflow and machine. */
const protocolVersion = 1;

/** @throws Failure machine.lease-held while another process serves this state folder */
export function openMachine(options: MachineOptions): Machine {
  const { stateDir, store, logger } = options;
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const lock = tryLock(join(stateDir, 'machine.lock'));
  if (!lock) throw new Failure('machine.lease-held', { detail: options.name });
  const identity = openIdentity({ stateDir, name: options.name });
  const journal = new Journal(join(stateDir, 'journal.db'));
  const host = createHostClient(options);
  const keeper = createOutputKeeper(store);
  const tools = createRegistry({
    host,
    keeper,
    environment: createCommandEnvironment(options.env),
    workspace: options.workspace,
    blobs: store,
    canNotify: options.addInput !== undefined,
  });
  const { machineId, bootId } = identity;
  const unanswered = journal.list().flatMap((row) => row.origin ?? []);
  const publishDelta = options.publishDelta ?? (() => undefined);
  const kernelBoot = readKernelBoot();
  const workspace = openWorkspaces(options);
  const calls = createCallExecutor({
    machineId,
    bootId,
    kernelBoot,
    store,
    journal,
    tools,
    publishDelta,
    logger,
    workspace,
  });
  const { addInput } = options;
  const endNotices = addInput ? startExitNotices({ host, addInput, logger }) : () => undefined;
  let closed: Promise<void> | undefined;
  const close = async ({ limitMs }: { limitMs: number }) => {
    await calls.close({ limitMs });
    endNotices();
    await Promise.all([host.close({ stopHost: true }), workspace.close()]);
    journal.close();
    lock.release();
  };
  return {
    registration: toRegistration(options, {
      machineId,
      bootId,
      catalog: toCatalog([...tools.values()].map((tool) => tool.spec)),
    }),
    earlierBoots: identity.earlierBoots,
    confirmBoot: () => identity.confirmBoot(),
    calls,
    terminals: createBackgroundTerminals(host),
    workspaces: workspace,
    unansweredDispatches: () => unanswered,
    ready: () => host.ready(),
    close: (limits) => (closed ??= close(limits)),
  };
}

/** Runs calls of the in-process engine on this machine. */
export function createCallRunner(machine: Pick<Machine, 'calls'>): CallRunner {
  return {
    run: ({ sessionId, call }, signal) => machine.calls.run({ sessionId, callId: call.callId }, signal),
  };
}

function createHostClient({ stateDir, env, supervised }: MachineOptions): ProcessHostClient {
  const runtimeDir = env['XDG_RUNTIME_DIR'];
  const compileCache = env['NODE_COMPILE_CACHE'];
  const parent = supervised ? readProcess(process.ppid) : undefined;
  return new ProcessHostClient({
    stateDir,
    env: {
      PATH: env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
      ...(compileCache ? { NODE_COMPILE_CACHE: compileCache } : {}),
    },
    ...(runtimeDir ? { runtimeDir } : {}),
    ...(parent ? { supervisor: { pid: parent.pid, startTime: parent.startTime } } : {}),
  });
}

/** No snapshot may hold the state of the stack that this machine belongs to, where that is kept beside `machines/<name>`. */
function openWorkspaces({ stateDir, workspace, env, logger }: MachineOptions): WorkspaceGuard {
  const machines = dirname(resolve(stateDir));
  return createWorkspaceGuard({
    folder: join(stateDir, 'workspaces'),
    excluded: [resolve(stateDir), ...(basename(machines) === 'machines' ? [dirname(machines)] : [])],
    path: env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    workspace,
    logger,
  });
}

function toRegistration(
  { name, workspace }: MachineOptions,
  identity: Pick<MachineRegistration, 'machineId' | 'bootId' | 'catalog'>,
): MachineRegistration {
  const { platform, arch } = process;
  const capabilities = { platform, arch, hostname: hostname(), workspace, protocol: protocolVersion };
  return { ...identity, kind: 'machine', name, capabilities };
}
