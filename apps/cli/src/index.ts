export { createLocalEngine } from './local/local-engine.ts';
export type { LocalEngine, LocalEngineOptions } from './local/local-engine.ts';
