export type { ApiReply, Transport } from './api-requests.ts';
export { createSessionClient } from './client.ts';
export type { RemoteSession, SessionClient } from './client.ts';
export { createJsonlAdapter } from './jsonl.ts';
export type { JsonlLine } from './jsonl.ts';
