export { createBus, ensureEventStream } from './bus.ts';
export type { CallHint, CancelHint, EventBus } from './bus.ts';
export type { CancelAudience } from './subjects.ts';
