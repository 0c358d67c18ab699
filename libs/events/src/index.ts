export { createBus, ensureEventStream } from './bus.ts';
export type { CancelHint, EventBus } from './bus.ts';
export type { CancelAudience } from './subjects.ts';
