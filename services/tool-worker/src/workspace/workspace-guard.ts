// workspace-guard.ts: the machine's side of its workspaces: what stands before and after each call that may change files.
// G1  The first call of a turn has no effect before the state before it is noted, unless that takes too long; undo then says so.
//     In a large workspace the later calls of the turn begin with the state that the one before left, so they need not wait.
// G2  Undo is a service, not a condition: when the thread fails, calls run all the same and the log tells.
import { realpathSync, statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { CallDetail, UndoResult } from '@holdfast/protocol';
import type { Logger } from '@holdfast/telemetry';
import type { PlannedChange } from '../tool.ts';
import { toStamp } from './known-files.ts';
import type { Answer, QuestionName, Questions, ThreadOptions } from './messages.ts';
import type { UndoOrder } from './requests.ts';
import type { TurnDiff } from './turn-diff.ts';

export type GuardedCall = {
  call: CallDetail;
  /** What the call will write, where its tool knows. */
  files?: readonly PlannedChange[];
};

export type WorkspaceGuard = {
  /**
   * To be awaited before a call that may change files has an effect. Idempotent; never rejects.
   * @returns the files that changed since the session last read or wrote them: the call must not run then
   */
  begin(guarded: GuardedCall): Promise<string[]>;
  /** Such a call has ended, in whatever way. Returns at once. Idempotent. */
  end(guarded: GuardedCall): void;
  /** A tool is about to read a file for the session; `path` is absolute. Returns at once. */
  noteRead(call: CallDetail, path: string): void;
  /** @throws Error while a call of the session runs, and when the snapshot is damaged or a path cannot be written */
  undo(request: UndoOrder): Promise<UndoResult>;
  /** What the calls of a turn changed so far. @throws Error when a snapshot is damaged */
  diff(turn: { sessionId: string; ordinal: number }): Promise<TurnDiff>;
  /** Waits for what is under way. Idempotent. */
  close(): Promise<void>;
};

export type WorkspaceGuardOptions = ThreadOptions & {
  /** Looked at as soon as the thread is up. */
  workspace: string;
  logger: Logger;
  /** How long a call waits for the first look at a large workspace; later looks take milliseconds. */
  patienceMs?: number;
};

const defaultPatienceMs = 5_000;

export function createWorkspaceGuard(options: WorkspaceGuardOptions): WorkspaceGuard {
  const { workspace, logger, patienceMs = defaultPatienceMs, ...threadOptions } = options;
  const thread = new WorkspaceThread(threadOptions);
  const warn = (message: string) => (error: unknown) => logger.warn({ err: error }, message);
  const running = new Map<string, Set<string>>();
  const seenTurns = new Map<string, { isLarge: boolean }>();
  thread.ask('warm', { cwd: workspace }).catch(warn('no snapshot of the workspace'));

  const begin = async (guarded: GuardedCall): Promise<string[]> => {
    const { sessionId, callId, turnId } = guarded.call;
    running.set(sessionId, (running.get(sessionId) ?? new Set()).add(callId));
    const seen = seenTurns.get(sessionId + turnId);
    const look = seen === undefined || !seen.isLarge;
    try {
      const asked = thread.ask('begin', { ...toStart(guarded), look });
      if (!look && !guarded.files) {
        asked.catch(warn('the state before a call could not be noted'));
        return [];
      }
      const begun = await withPatience(asked, patienceMs);
      if (begun) {
        remember(seenTurns, sessionId + turnId, { isLarge: begun.isLarge });
        return begun.conflicts;
      }
      thread.ask('spoil', { sessionId, callId }).catch(warn('a call without its state before'));
    } catch (error) {
      warn('the state before a call could not be noted')(error); // G2
    }
    return [];
  };

  return {
    begin,
    end: (guarded) => {
      const { sessionId, callId } = guarded.call;
      const calls = running.get(sessionId);
      if (calls?.delete(callId) && calls.size === 0) running.delete(sessionId);
      thread.ask('end', toStart(guarded)).catch(warn('the state after a call could not be noted'));
    },
    noteRead: ({ sessionId, callId, tool }, path) => {
      const read = toRead(path);
      if (!read) return;
      thread.ask('noteRead', { sessionId, callId, tool, ...read }).catch(warn('a read could not be noted'));
    },
    undo: async (request) => {
      if (running.has(request.sessionId)) {
        return {
          kind: 'nothing',
          reason: 'a call of this session is running; interrupt the turn, then undo it',
        };
      }
      return thread.ask('undo', request);
    },
    diff: (turn) => thread.ask('diff', turn),
    close: () => thread.close(),
  };
}

function toStart({ call, files }: GuardedCall): Questions['end']['given'] {
  const { sessionId, turnId, callId, tool, context } = call;
  return { sessionId, turnId, callId, tool, cwd: context.cwd, ...(files ? { files } : {}) };
}

/** @returns undefined when there is no file to be read; the tool says why */
function toRead(path: string): { path: string; stamp: string } | undefined {
  try {
    const file = realpathSync(path);
    return statSync(file).isFile() ? { path: file, stamp: toStamp(file) } : undefined;
  } catch {
    return undefined;
  }
}

/** Turns that are remembered; a forgotten one only costs a look. */
const rememberedTurns = 1_000;

function remember<T>(seen: Map<string, T>, key: string, value: T): void {
  seen.set(key, value);
  for (const oldest of seen.keys()) {
    if (seen.size <= rememberedTurns) break;
    seen.delete(oldest);
  }
}

/** @returns undefined when it takes longer */
async function withPatience<T>(asked: Promise<T>, patienceMs: number): Promise<T | undefined> {
  const { promise: impatient, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), patienceMs);
  try {
    return await Promise.race([asked, impatient]);
  } finally {
    clearTimeout(timer);
  }
}

/** Little for young objects, so that what was read of files is collected at once; 100,000 files take about 250 MB. */
const threadLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 512 };

type Waiting = { resolve: (answer: unknown) => void; reject: (error: Error) => void };

/** Asks the thread; it ends with this process, however that ends. */
class WorkspaceThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #exited: Promise<void>;
  #lastId = 0;
  #failure: Error | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: ThreadOptions) {
    // Flags of this process, such as those of an evaluated script, are not for the thread.
    const execArgv = ['--disable-warning=ExperimentalWarning'];
    this.#worker = new Worker(new URL('thread.ts', import.meta.url), {
      workerData: options,
      execArgv,
      resourceLimits: threadLimits,
    });
    this.#worker.unref();
    this.#worker.on('message', (answer: Answer) => this.#take(answer));
    this.#worker.once('error', (error) =>
      this.#fail(error instanceof Error ? error : new Error(String(error))),
    );
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.#fail(new Error('the thread of the workspaces has ended'));
        resolve();
      });
    });
  }

  ask<N extends QuestionName>(name: N, given: Questions[N]['given']): Promise<Questions[N]['answer']> {
    if (this.#failure) return Promise.reject(this.#failure);
    const id = (this.#lastId += 1);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(id, { resolve, reject });
    this.#worker.ref();
    this.#worker.postMessage({ id, name, given }, []);
    return promise as Promise<Questions[N]['answer']>;
  }

  close(): Promise<void> {
    this.#closed ??= this.ask('close', {}).then(
      () => this.#exited,
      () => this.#exited,
    );
    return this.#closed;
  }

  #take(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0 && !this.#closed) this.#worker.unref();
    if ('error' in answer) waiting?.reject(new Error(answer.error));
    else waiting?.resolve(answer.answer);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
  }
}
