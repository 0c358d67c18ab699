import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readDisposableJsonFile, writeJsonFile } from './json-file.ts';
import { ensureStateFolders, type StackPaths } from './paths.ts';
import { isSameProcessAlive, readRssMb, readStartTime } from './process-identity.ts';
import type { ProcessStatus } from './supervisor/supervisor.ts';

const workerSchema = z.object({ machine: z.string(), pid: z.number().int(), startTime: z.string() });

/**
 * Makes a tool worker that a person started by hand visible in the status of the stack. Registering the same machine
 * again replaces the entry. The result removes it; an entry whose process is gone is not shown either.
 */
export async function registerWorker(
  paths: StackPaths,
  worker: { machine: string; pid: number },
): Promise<() => void> {
  await ensureStateFolders(paths);
  const file = join(paths.workersDir, `${encodeURIComponent(worker.machine)}.json`);
  writeJsonFile(file, { ...worker, startTime: readStartTime(worker.pid) ?? '' });
  return () => {
    if (readDisposableJsonFile(file, workerSchema)?.pid === worker.pid) rmSync(file, { force: true });
  };
}

/** Status rows of the registered workers that are alive, as role `tool-worker:<machine>`. */
export function listWorkerRows(paths: StackPaths): ProcessStatus[] {
  return listFiles(paths.workersDir)
    .map((name) => readDisposableJsonFile(join(paths.workersDir, name), workerSchema))
    .filter((worker) => worker !== null)
    .filter(isSameProcessAlive)
    .map((worker) => ({
      role: `tool-worker:${worker.machine}`,
      process: 'by hand',
      pid: worker.pid,
      address: null,
      health: 'ok',
      rssMb: readRssMb(worker.pid),
      restarts: 0,
    }));
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .toSorted();
  } catch {
    return [];
  }
}
