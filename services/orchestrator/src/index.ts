export { bundleWorkflows, workflowsPath } from './bundle.ts';
export { startOrchestrator } from './service.ts';
