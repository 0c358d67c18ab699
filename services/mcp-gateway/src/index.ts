export { openGateway } from './gateway.ts';
export type { Gateway, GatewayOptions } from './gateway.ts';
export { createGatewayRunner } from './run-call.ts';
export type { GatewayRunner, GatewayRunnerOptions } from './run-call.ts';
export { readServerConfigs, toServerConfigs } from './server-config.ts';
export type { ServerConfig } from './server-config.ts';
export { startMcpGateway } from './service.ts';
