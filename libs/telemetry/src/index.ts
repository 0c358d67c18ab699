export { createLogger } from './logger.ts';
export type { Logger, LogLevel } from './logger.ts';
