// memory.ts: the history store without a database, for the in-process engine and for tests. It forgets everything with the process.
// Every operation runs to its end before another starts, so each is atomic; a failing one has changed nothing.
import type { HistoryStore } from '@holdfast/agent-loop';
import type { SessionEvent } from '@holdfast/protocol';
import { toCleanJson } from '../clean-text.ts';
import { createCallLog } from './memory/calls.ts';
import { createBlobStore, createMachineDirectory } from './memory/machines.ts';
import { createSessionLog } from './memory/sessions.ts';
import type { MemoryState } from './memory/state.ts';
import { createStepLog } from './memory/steps.ts';
import { createTurnLog } from './memory/turns.ts';

export type MemoryStoreOptions = {
  /** Told of the events of every operation, in the order of their numbers within a session. Must not throw. */
  onEvents: (events: SessionEvent[]) => void;
  /** Milliseconds since 1970. */
  now?: () => number;
};

/** Same answers as the Postgres adapter; values go in and come out as copies. */
export function createMemoryStore(options: MemoryStoreOptions): HistoryStore {
  const state: MemoryState = {
    now: options.now ?? Date.now,
    sessions: new Map(),
    machines: new Map(),
    catalogs: new Map(),
    blobs: new Map(),
    nextPosition: 1,
    written: [],
  };
  const guard = createGuard(state, options.onEvents);
  return {
    ...guard(createSessionLog(state)),
    ...guard(createStepLog(state)),
    ...guard(createCallLog(state)),
    ...guard(createTurnLog(state)),
    ...guard(createMachineDirectory(state)),
    ...createBlobStore(state),
  };
}

/** Cleans what comes in, copies what goes out, and reports the events after the operation. */
function createGuard(state: MemoryState, onEvents: MemoryStoreOptions['onEvents']) {
  return <Log extends Record<keyof Log, (request: never) => Promise<unknown>>>(log: Log): Log => {
    const operations = Object.entries<(request: never) => Promise<unknown>>(log).map(([name, operation]) => {
      const guarded = async (request: unknown): Promise<unknown> => {
        const pending = operation(JSON.parse(toCleanJson(request ?? {})) as never);
        const written = state.written.splice(0);
        if (written.length > 0) onEvents(structuredClone(written));
        return structuredClone(await pending);
      };
      return [name, guarded];
    });
    return Object.fromEntries(operations) as Log;
  };
}
