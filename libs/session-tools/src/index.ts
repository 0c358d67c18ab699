export { createSessionCallRunner } from './session-calls.ts';
export type { SessionCallRequest, SessionCallRunner, SessionCallRunnerOptions } from './session-calls.ts';
export { sessionTools } from './registry.ts';
