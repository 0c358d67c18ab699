import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import type { StackPaths } from '../paths.ts';
import { readRecord } from '../process-record.ts';
import { type ControlReply, type ControlRequest, controlReplySchema } from './messages.ts';

/** A reply that ends a request. */
export type FinalReply = Exclude<ControlReply, { kind: 'progress' }>;

type CallOptions = { onProgress?: (line: string) => void; timeoutMs?: number };

/**
 * Sends one request to the supervisor of the state folder and resolves to its final reply, or to null when there is no
 * supervisor, or it went away before it answered. Progress lines go to `onProgress`.
 */
export async function callSupervisor(
  paths: StackPaths,
  request: ControlRequest,
  options: CallOptions = {},
): Promise<FinalReply | null> {
  // The record is exact, but a supervisor that has just begun has not written it yet.
  const recorded = readRecord(paths.recordFile)?.controlSocket;
  const sockets = new Set([...(recorded === undefined ? [] : [recorded]), ...paths.controlSocketCandidates]);
  for (const socket of sockets) {
    const reply = await callSocket(socket, request, options);
    if (reply !== null) return reply;
  }
  return null;
}

function callSocket(
  socketPath: string,
  request: ControlRequest,
  options: CallOptions,
): Promise<FinalReply | null> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    const finish = (reply: FinalReply | null): void => {
      resolve(reply);
      socket.destroy();
    };
    if (options.timeoutMs !== undefined) socket.setTimeout(options.timeoutMs, () => finish(null));
    socket.once('error', () => finish(null));
    socket.once('close', () => finish(null));
    socket.once('connect', () => socket.write(`${JSON.stringify(request)}\n`));
    const lines = createInterface({ input: socket });
    // readline repeats the socket's errors; the socket's own listener answers them.
    lines.on('error', () => undefined);
    lines.on('line', (line) => {
      const reply = parseReply(line);
      if (reply === null) return finish(null);
      if (reply.kind === 'progress') return options.onProgress?.(reply.line);
      finish(reply);
    });
  });
}

function parseReply(line: string): ControlReply | null {
  try {
    return controlReplySchema.parse(JSON.parse(line));
  } catch {
    return null;
  }
}
