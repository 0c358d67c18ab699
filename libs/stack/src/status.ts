import { callSupervisor } from './control/client.ts';
import { listWorkerRows } from './extra-workers.ts';
import { assertStateFolderUsable, type StackPaths } from './paths.ts';
import type { ProcessStatus } from './supervisor/supervisor.ts';

export type StackStatus = {
  state: 'down' | 'starting' | 'up' | 'stopping';
  /** One row a role, the tool workers that were started by hand last. */
  processes: ProcessStatus[];
};

const STATUS_TIMEOUT_MS = 5_000;

/**
 * Asks the supervisor what runs. Starts nothing and creates nothing; a stack that does not answer is `down`.
 * Throws `stack.state-unreadable` when the state folder cannot tell.
 */
export async function readStatus(paths: StackPaths): Promise<StackStatus> {
  await assertStateFolderUsable(paths);
  const workers = listWorkerRows(paths);
  const reply = await callSupervisor(paths, { op: 'status' }, { timeoutMs: STATUS_TIMEOUT_MS });
  if (reply?.kind !== 'status') return { state: 'down', processes: workers };
  return { state: reply.phase, processes: [...reply.processes, ...workers] };
}
