import { rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

/** The entry of the workflow bundle, for whoever keys a cache by its sources. */
export const workflowsPath = fileURLToPath(new URL('./workflows/index.ts', import.meta.url));

/** Writes the workflow bundle to `path`, whole or not at all. Takes 1–2 s. */
export async function bundleWorkflows(path: string): Promise<void> {
  const silent = () => undefined;
  const logger = { log: silent, trace: silent, debug: silent, info: silent, warn: silent, error: silent };
  const { code } = await bundleWorkflowCode({ workflowsPath, logger });
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, code);
  await rename(temporary, path);
}
