export { createBus, ensureEventStream } from './bus.ts';
export type { CallHint, CancelHint, EventBus } from './bus.ts';
export type { CancelAudience } from './subjects.ts';
export type { MachineReply, MachineRequest } from './machine-requests.ts';
