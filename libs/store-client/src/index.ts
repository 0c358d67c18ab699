export { toCanonicalJson, toCatalog } from './catalog.ts';
export { createHttpStore } from './http-store.ts';
export type { HttpStoreOptions } from './http-store.ts';
export { createPatientStore } from './patience.ts';
export { failureBodySchema, operations } from './operations.ts';
export type { StoreOperation } from './operations.ts';
export { sessionEventSchema } from './event-schemas.ts';
export {
  approvalSchema,
  inputIdSchema,
  machineSchema,
  outputStyleSchema,
  promptLimitBytes,
  sessionIdSchema,
  sessionSchema,
  storedItemSchema,
  toolProfileSchema,
  turnSchema,
} from './schemas.ts';
