import { type ProcessSpec, toStartOrder } from '../plan.ts';
import { readRssMb } from '../process-identity.ts';
import type { RecordWriter } from '../process-record.ts';
import { isReady } from '../readiness.ts';
import { StackError, stackCodes } from '../stack-error.ts';
import { logFileOf } from './log-file.ts';
import { SupervisedProcess } from './supervised-process.ts';

/** One role of the stack: roles that share a process share its pid; an external server has no pid. */
export type ProcessStatus = {
  role: string;
  process: string;
  pid: number | null;
  address: string | null;
  health: 'ok' | 'starting' | 'failed';
  rssMb: number | null;
  restarts: number;
};

export type SupervisorOptions = {
  logsDir: string;
  record: RecordWriter;
  onProgress: (line: string) => void;
  startTimeoutMs?: number;
};

/** Keeps a set of processes running, in one process, with no knowledge of what they are. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #processes = new Map<string, SupervisedProcess>();
  #stopping: Promise<void> | null = null;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /**
   * Starts the processes, each as soon as those it depends on serve; resolves when all serve. Rejects with
   * `stack.start-failed` at the first that does not; the others keep running until stop().
   */
  async start(specs: readonly ProcessSpec[]): Promise<void> {
    const order = toStartOrder(specs);
    const serving = new Map<string, Promise<void>>();
    for (const spec of order) {
      const before = spec.dependsOn.map((name) => serving.get(name) ?? Promise.resolve());
      serving.set(
        spec.name,
        Promise.all(before).then(() => this.#startOne(spec)),
      );
    }
    await Promise.all(serving.values());
  }

  /** Adds a process to the running set and resolves when it serves. A failed start leaves nothing behind. */
  async add(spec: ProcessSpec): Promise<void> {
    if (this.#processes.has(spec.name)) {
      throw new StackError(
        stackCodes.startFailed,
        `A process named ${spec.name} exists: remove it or use another name.`,
      );
    }
    try {
      await this.#startOne(spec);
    } catch (error) {
      await this.remove(spec.name);
      throw error;
    }
  }

  /** Stops one process for good. Returns false when there is none of that name. */
  async remove(name: string): Promise<boolean> {
    const supervised = this.#processes.get(name);
    if (supervised === undefined) return false;
    await supervised.stop();
    this.#processes.delete(name);
    this.#options.record.remove(name);
    return true;
  }

  /** Stops every process, those that others depend on last. Resolves when all are gone. Idempotent. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  /** What runs now, one row a role. Processes that should serve are asked whether they do. */
  async status(): Promise<ProcessStatus[]> {
    const rows = await Promise.all([...this.#processes.values()].map((supervised) => toRows(supervised)));
    return rows.flat();
  }

  /** Where each role listens. */
  addresses(): Record<string, string> {
    return Object.assign({}, ...[...this.#processes.values()].map(({ spec }) => spec.addresses)) as Record<
      string,
      string
    >;
  }

  async #startOne(spec: ProcessSpec): Promise<void> {
    if (this.#stopping !== null)
      throw new StackError(stackCodes.startFailed, `The stack is being stopped; start it again.`);
    const { logsDir, record, onProgress, startTimeoutMs } = this.#options;
    const startedAt = Date.now();
    const supervised = new SupervisedProcess({
      spec,
      logFile: logFileOf(logsDir, spec.name),
      onSpawn: (pid) => record.set({ name: spec.name, roles: spec.roles, pid }),
      onDeath: (reason) => onProgress(`${spec.name} ended (${reason}); starting it again`),
      ...(startTimeoutMs !== undefined && { startTimeoutMs }),
    });
    this.#processes.set(spec.name, supervised);
    await supervised.start();
    onProgress(`${spec.name} serves after ${((Date.now() - startedAt) / 1_000).toFixed(1)} s`);
  }

  async #stopAll(): Promise<void> {
    const ended = new Map<string, Promise<void>>();
    for (const supervised of [...this.#processes.values()].toReversed()) {
      const users = [...this.#processes.values()].filter(({ spec }) =>
        [...spec.dependsOn, ...(spec.uses ?? [])].includes(supervised.spec.name),
      );
      const before = users.map(({ spec }) => ended.get(spec.name) ?? Promise.resolve());
      ended.set(
        supervised.spec.name,
        Promise.all(before).then(() => supervised.stop()),
      );
    }
    await Promise.all(ended.values());
  }
}

async function toRows(supervised: SupervisedProcess): Promise<ProcessStatus[]> {
  const { spec, pid, restarts } = supervised;
  const serves = supervised.health !== 'ok' || (await isReady(spec.readiness).catch(() => false));
  const rssMb = pid === null ? null : readRssMb(pid);
  return spec.roles.map((role) => ({
    role,
    process: spec.name,
    pid,
    address: spec.addresses[role] ?? null,
    health: serves ? supervised.health : 'failed',
    rssMb,
    restarts,
  }));
}
