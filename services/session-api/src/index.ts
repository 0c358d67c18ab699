export { describeSessionApi } from './api-description.ts';
export { toNewSession } from './domain/new-session.ts';
export type { NewSessionRequest } from './public-schemas.ts';
export { startSessionApi } from './service.ts';
