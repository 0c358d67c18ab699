import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { readJsonLines, writeJsonLine } from './json-lines.ts';
import type { ProcessHost } from './process-host.ts';
import type { HostMessage, HostRequest, ProcessState } from './protocol.ts';

/** A reader that is this far behind loses live output, not the end of a process. */
const backlogLimitBytes = 4 * 1024 * 1024;

export type HostServer = {
  /** Connected clients. */
  clients(): number;
  close(): void;
};

export type HostServerOptions = {
  host: ProcessHost;
  /** Replaces a socket that a dead host left there; only the owner may connect. */
  path: string;
  onClients: (count: number) => void;
  onStop: () => void;
};

/** Resolves when clients can connect. */
export async function startServer(options: HostServerOptions): Promise<HostServer> {
  const clients = new Set<Socket>();
  const server = createServer((socket) => {
    clients.add(socket);
    options.onClients(clients.size);
    const watched = new Set<() => void>();
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      clients.delete(socket);
      for (const stop of watched) stop();
      options.onClients(clients.size);
    });
    readJsonLines(socket, (request) => void serve(options, { socket, watched }, request as HostRequest));
  });
  rmSync(options.path, { force: true });
  await listen(server, options.path);
  chmodSync(options.path, 0o600);
  return {
    clients: () => clients.size,
    close: () => {
      server.close();
      for (const socket of clients) socket.destroy();
    },
  };
}

type Client = { socket: Socket; watched: Set<() => void> };

async function serve(options: HostServerOptions, client: Client, request: HostRequest): Promise<void> {
  const send = (message: HostMessage) => writeJsonLine(client.socket, message);
  try {
    if (request.op === 'start' || request.op === 'attach') {
      // In one go, so that no event of the process falls between.
      const { host } = options;
      const key = request.op === 'start' ? request.process.key : request.key;
      send({
        id: request.id,
        states: { [key]: request.op === 'start' ? host.start(request.process) : host.status(key) },
      });
      watch(host, client, key);
      return;
    }
    send({ id: request.id, states: await answer(options.host, request) });
    if (request.op === 'stop') options.onStop();
  } catch (error) {
    send({ id: request.id, error: error instanceof Error ? error.message : String(error) });
  }
}

async function answer(
  host: ProcessHost,
  request: Exclude<HostRequest, { op: 'start' | 'attach' }>,
): Promise<Record<string, ProcessState>> {
  switch (request.op) {
    case 'status':
      return { [request.key]: host.status(request.key) };
    case 'kill':
      await host.kill(request.key, request.graceMs);
      return { [request.key]: host.status(request.key) };
    case 'list':
      return host.list();
    case 'forget':
      await host.forget(request.key);
      return {};
    case 'stop':
      await host.close({ graceMs: 500 });
      return {};
  }
}

function watch(host: ProcessHost, client: Client, key: string): void {
  const { socket, watched } = client;
  const stop = host.watch(key, {
    onOutput: (text) => {
      if (socket.writableLength < backlogLimitBytes) writeJsonLine(socket, { event: 'output', key, text });
    },
    onExit: (exit) => {
      if (stop) watched.delete(stop);
      writeJsonLine(socket, { event: 'exit', key, exit });
    },
  });
  if (stop) watched.add(stop);
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
}
