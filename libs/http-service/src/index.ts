export { startHealthServer } from './health-server.ts';
export type { HealthServerOptions } from './health-server.ts';
export { createHttpService } from './http-service.ts';
export type { HttpServiceOptions } from './http-service.ts';
