export { StackError } from './stack-error.ts';
export { resolvePaths, type StackPaths } from './paths.ts';
export { type Secrets } from './secrets.ts';
export { type PortBook } from './ports.ts';
export { type ProcessSpec, type Readiness } from './plan.ts';
export { runSupervisor, type PlanContext } from './run-supervisor.ts';
export { type StackEndpoints } from './servers/endpoints.ts';
export { addProcess, ensureStack, removeProcess, stopStack, type StackInfo } from './stack.ts';
export { readStatus, type StackStatus } from './status.ts';
export { type ProcessStatus } from './supervisor/supervisor.ts';
export { readStackFile } from './stack-file.ts';
export { tailLogs, type LogLine } from './logs.ts';
export { registerWorker } from './extra-workers.ts';
export {
  createStandaloneNats,
  createStandalonePostgres,
  type StandaloneServer,
} from './servers/standalone.ts';
