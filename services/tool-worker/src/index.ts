import type { Env } from '@holdfast/config';
import type { ToolWorkerService } from './service.ts';

export { createCallRunner, openMachine } from './machine.ts';
export type { Machine, MachineOptions } from './machine.ts';
export type { CallExecutor, DispatchStop } from './call-executor.ts';
export { toolSpecs } from './tool-specs.ts';
export type { ToolWorkerService } from './service.ts';

/**
 * Serves the calls of one machine. Comes up while Temporal, NATS and the history store are away. Temporal is loaded only now, so that
 * the in-process engine does without it.
 * @throws ConfigError
 * @throws Failure machine.lease-held while another process serves the same state folder
 */
export async function startToolWorker(env: Env): Promise<ToolWorkerService> {
  const service = await import('./service.ts');
  return service.startToolWorker(env);
}
