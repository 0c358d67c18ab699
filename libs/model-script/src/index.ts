export { parseScript, ScriptInvalid } from './script.ts';
export type { OutputPart, Reply, Script, ScriptedFailure } from './script.ts';
export type { ModelRequest } from './model-request.ts';
export type { ReplyFunction, ReplySource } from './selection.ts';
export type { Gate } from './gates.ts';
export type { RecordedRequest } from './request-log.ts';
export { startModelServer } from './server.ts';
export type { ModelServer, ModelServerOptions } from './server.ts';
