// run-supervisor.ts: the life of the supervisor process, from the lock to the last process' end.
// R1  At most one supervisor works in a state folder: it holds the kernel's lock from before it touches anything until
//     every process it started is gone.
// R2  Processes of a supervisor that was killed are gone before their successors start.
// R3  Whoever asked for the start (`watch`) is told how it ended; a failure is also written down, for a caller that was
//     not connected yet.
// R4  stack.json exists while the stack is up, and only then.
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Env } from '@holdfast/config';
import { type KernelLock, tryLock } from '@holdfast/kernel-lock';
import { callSupervisor } from './control/client.ts';
import type { ControlReply, ControlRequest } from './control/messages.ts';
import { type ControlServer, openControlServer } from './control/server.ts';
import { toExternalRows } from './external-servers.ts';
import { writeJsonFile } from './json-file.ts';
import { ensureStateFolders, type StackPaths } from './paths.ts';
import type { ProcessSpec } from './plan.ts';
import { openPortBook, type PortBook } from './ports.ts';
import { createRecord, endSurvivors, readRecord } from './process-record.ts';
import { ensureSecrets, type Secrets } from './secrets.ts';
import { planServers } from './servers/embedded.ts';
import { type StackEndpoints, withoutCredentials } from './servers/endpoints.ts';
import type { DynamicConfig } from './servers/temporal.ts';
import { StackError, stackCodes, systemReason } from './stack-error.ts';
import { type StackFile, writeFailure } from './stack-file.ts';
import { Supervisor } from './supervisor/supervisor.ts';

/** What Holdfast's own processes are planned with. */
export type PlanContext = {
  paths: StackPaths;
  env: Env;
  endpoints: StackEndpoints;
  secrets: Secrets;
  ports: PortBook;
  /** Told of what takes its time while the processes are planned, one line each. */
  onProgress: (line: string) => void;
};

export type RunSupervisorOptions = {
  paths: StackPaths;
  env: Env;
  /** Holdfast's processes. They may depend on `temporal`, `postgres` and `nats`; a dependency that is external is met. */
  planProcesses: (context: PlanContext) => Promise<ProcessSpec[]>;
  temporalDynamicConfig?: DynamicConfig;
};

/** Exit code of a supervisor that found another one at work. */
export const ALREADY_RUNNING = 75;

const SURVIVOR_PATIENCE_MS = 5_000;
const LOCK_RETRY_MS = 50;
const STATUS_TIMEOUT_MS = 5_000;

/**
 * Runs the stack of one state folder until it is told to stop (control socket, SIGTERM, SIGINT) and resolves to the exit
 * code of the process: 0 stopped, 1 failed to start, 75 another supervisor is at work. Nothing it started is left then.
 */
export async function runSupervisor(options: RunSupervisorOptions): Promise<number> {
  await ensureStateFolders(options.paths);
  const lock = await lockUnlessServed(options.paths);
  if (lock === null) return ALREADY_RUNNING;
  try {
    return await new SupervisorRun(options).run();
  } finally {
    lock.release();
  }
}

async function lockUnlessServed(paths: StackPaths): Promise<KernelLock | null> {
  for (;;) {
    const lock = tryLock(paths.lockFile);
    if (lock) return lock;
    const reply = await callSupervisor(paths, { op: 'status' }, { timeoutMs: STATUS_TIMEOUT_MS });
    if (reply?.kind === 'status' && reply.phase !== 'stopping') return null;
    await delay(LOCK_RETRY_MS);
  }
}

type Outcome = { kind: 'ready' } | { kind: 'failed'; error: StackError };

class SupervisorRun {
  readonly #options: RunSupervisorOptions;
  readonly #watchers = new Set<(message: ControlReply) => void>();
  readonly #progress: string[] = [];
  readonly #started = Promise.withResolvers<Outcome>();
  readonly #stopRequest = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #stopping = new AbortController();
  #phase: 'starting' | 'up' | 'stopping' = 'starting';
  #supervisor: Supervisor | null = null;
  #endpoints: StackEndpoints | null = null;

  constructor(options: RunSupervisorOptions) {
    this.#options = options;
  }

  async run(): Promise<number> {
    const { paths } = this.#options;
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => this.#stopRequest.resolve());
    process.on('SIGHUP', () => undefined);
    rmSync(paths.stackFile, { force: true });
    const control = await openControlServer(paths.controlSocketCandidates, (request, reply) =>
      this.#handle(request, reply),
    );
    const started = await Promise.race([this.#start(control), this.#stopRequest.promise.then(() => null)]);
    if (started?.kind === 'ready') {
      this.#writeStackFile();
      this.#phase = 'up';
    }
    if (started !== null) this.#started.resolve(started);
    if (started?.kind !== 'failed') await this.#stopRequest.promise;
    await this.#stop(control, started);
    return started?.kind === 'failed' ? 1 : 0;
  }

  async #stop(control: ControlServer, started: Outcome | null): Promise<void> {
    this.#phase = 'stopping';
    this.#stopping.abort();
    const stopped = new StackError(
      stackCodes.startFailed,
      'The stack was stopped while it started: start it again.',
    );
    this.#started.resolve(started ?? { kind: 'failed', error: stopped });
    rmSync(this.#options.paths.stackFile, { force: true });
    await this.#supervisor?.stop();
    if (started?.kind === 'failed') {
      this.#announce(started.error.message);
      writeFailure(this.#options.paths.failureFile, started.error);
    }
    this.#ended.resolve();
    await control.close();
  }

  async #start(control: ControlServer): Promise<Outcome> {
    const { paths, env, planProcesses, temporalDynamicConfig } = this.#options;
    const onProgress = (line: string): void => this.#announce(line);
    try {
      const previous = readRecord(paths.recordFile);
      await endSurvivors(previous, { patienceMs: SURVIVOR_PATIENCE_MS, onProgress });
      const record = createRecord({ file: paths.recordFile, controlSocket: control.path });
      const secrets = ensureSecrets(paths.secretsFile);
      const ports = openPortBook({ file: paths.portsFile, onNotice: onProgress });
      const { specs: servers, endpoints } = await planServers({
        paths,
        env,
        secrets,
        ports,
        onProgress,
        signal: this.#stopping.signal,
        ...(temporalDynamicConfig && { temporalDynamicConfig }),
      });
      this.#endpoints = endpoints;
      const own = await planProcesses({ paths, env, endpoints, secrets, ports, onProgress });
      if (this.#phase === 'stopping')
        throw new StackError(stackCodes.startFailed, 'The stack is being stopped: start it again.');
      this.#supervisor = new Supervisor({ logsDir: paths.logsDir, record, onProgress });
      await this.#supervisor.start(withoutExternalDependencies([...servers, ...own], endpoints));
      return { kind: 'ready' };
    } catch (error) {
      return { kind: 'failed', error: toStackError(error) };
    }
  }

  async #handle(request: ControlRequest, reply: (message: ControlReply) => void): Promise<void> {
    switch (request.op) {
      case 'watch':
        return this.#watch(reply);
      case 'status': {
        const own = (await this.#supervisor?.status()) ?? [];
        const external = this.#endpoints === null ? [] : await toExternalRows(this.#endpoints);
        return reply({ kind: 'status', phase: this.#phase, processes: [...external, ...own] });
      }
      case 'stop':
        this.#stopRequest.resolve();
        await this.#ended.promise;
        return reply({ kind: 'stopped' });
      case 'add-process':
        await this.#running().add(request.spec);
        this.#writeStackFile();
        return reply({ kind: 'done' });
      case 'remove-process':
        if (!(await this.#running().remove(request.name))) {
          throw new StackError(
            stackCodes.startFailed,
            `No process is named ${request.name}; see \`holdfast status\`.`,
          );
        }
        this.#writeStackFile();
        return reply({ kind: 'done' });
    }
  }

  async #watch(reply: (message: ControlReply) => void): Promise<void> {
    if (this.#phase === 'stopping') return reply({ kind: 'stopping' });
    if (this.#phase === 'starting') for (const line of this.#progress) reply({ kind: 'progress', line });
    this.#watchers.add(reply);
    const outcome = await this.#started.promise;
    this.#watchers.delete(reply);
    if (outcome.kind === 'ready') return reply({ kind: 'ready' });
    // The failure is told when everything is cleared away, so that the next attempt finds nothing in its way.
    await this.#ended.promise;
    reply({ kind: 'failed', code: outcome.error.code, message: outcome.error.message });
  }

  #running(): Supervisor {
    if (this.#phase === 'up' && this.#supervisor !== null) return this.#supervisor;
    throw new StackError(stackCodes.startFailed, 'The stack is not up: wait for `holdfast up` to finish.');
  }

  #announce(line: string): void {
    process.stdout.write(`${new Date().toISOString()} ${line}\n`);
    if (this.#phase === 'starting') this.#progress.push(line);
    for (const watcher of this.#watchers) watcher({ kind: 'progress', line });
  }

  #writeStackFile(): void {
    if (this.#supervisor === null || this.#endpoints === null) return;
    const { temporal, database, nats } = this.#endpoints;
    const addresses = {
      temporal: temporal.address,
      postgres: withoutCredentials(database.url),
      nats: withoutCredentials(nats.url),
      ...this.#supervisor.addresses(),
    };
    writeJsonFile(this.#options.paths.stackFile, {
      pid: process.pid,
      sessionApiUrl: this.#supervisor.addresses()['session-api'] ?? null,
      addresses,
      temporalNamespace: temporal.namespace,
      secretsFile: this.#options.paths.secretsFile,
    } satisfies StackFile);
  }
}

function withoutExternalDependencies(
  specs: readonly ProcessSpec[],
  endpoints: StackEndpoints,
): ProcessSpec[] {
  const external = new Set([
    ...(endpoints.temporal.external ? ['temporal'] : []),
    ...(endpoints.database.external ? ['postgres'] : []),
    ...(endpoints.nats.external ? ['nats'] : []),
  ]);
  const withoutExternal = (names: readonly string[]): string[] => names.filter((name) => !external.has(name));
  return specs.map((spec) => ({
    ...spec,
    dependsOn: withoutExternal(spec.dependsOn),
    ...(spec.uses && { uses: withoutExternal(spec.uses) }),
  }));
}

const toStackError = (error: unknown): StackError =>
  error instanceof StackError
    ? error
    : new StackError(
        stackCodes.startFailed,
        `The stack could not start (${systemReason(error)}); see its logs.`,
        { cause: error },
      );
