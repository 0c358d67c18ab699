export { commonEnvironment, ConfigError, parseEnvironment, portSchema, toMasked } from './environment.ts';
export type { Env } from './environment.ts';
export { createSecretBox } from './secret-box.ts';
export type { SecretBox } from './secret-box.ts';
