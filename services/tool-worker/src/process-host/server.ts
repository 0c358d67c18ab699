import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { readJsonLines, writeJsonLine } from './json-lines.ts';
import type { ProcessHost } from './process-host.ts';
import type { HostAnswers, HostMessage, HostRequest } from './protocol.ts';

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
    const watched = new Map<string, () => void>();
    const endNotices = options.host.onNotableEnd(() => writeJsonLine(socket, { event: 'ended' }));
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      clients.delete(socket);
      endNotices();
      for (const stop of watched.values()) stop();
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

/** `watched` holds how to end each watch, by key. */
type Client = { socket: Socket; watched: Map<string, () => void> };

/** What attaches its client to a process. */
type Attaching = Extract<HostRequest, { op: 'start' | 'attach' | 'interact' }>;
type Plain = Exclude<HostRequest, Attaching>;

async function serve(options: HostServerOptions, client: Client, request: HostRequest): Promise<void> {
  const { host } = options;
  const send = (message: HostMessage) => writeJsonLine(client.socket, message);
  try {
    if (isAttaching(request)) {
      // In one go, so that no event of the process falls between.
      const { answer, key } = attach(host, request);
      send({ id: request.id, answer });
      if (key !== undefined) watch(host, client, key);
      return;
    }
    send({ id: request.id, answer: await toAnswer(host, client, request) });
    if (request.op === 'stop') options.onStop();
  } catch (error) {
    send({ id: request.id, error: error instanceof Error ? error.message : String(error) });
  }
}

function isAttaching(request: HostRequest): request is Attaching {
  return request.op === 'start' || request.op === 'attach' || request.op === 'interact';
}

function attach(
  host: ProcessHost,
  request: Attaching,
): { answer: HostAnswers[Attaching['op']]; key?: string } {
  switch (request.op) {
    case 'start':
      return { answer: host.start(request.process), key: request.process.key };
    case 'attach':
      return { answer: host.status(request.key), key: request.key };
    case 'interact': {
      const answer = host.terminals.interact(request);
      return { answer, ...(answer.kind === 'attached' ? { key: answer.key } : {}) };
    }
  }
}

async function toAnswer(
  host: ProcessHost,
  client: Client,
  request: Plain,
): Promise<HostAnswers[Plain['op']]> {
  switch (request.op) {
    case 'status':
      return host.status(request.key);
    case 'kill':
      await host.kill(request.key, request.graceMs);
      return host.status(request.key);
    case 'list':
      return host.list();
    case 'forget':
      await host.forget(request.key);
      return null;
    case 'background':
      unwatch(client, request.key);
      return host.terminals.add(request) ?? { state: host.status(request.key) };
    case 'read': {
      const reading = host.terminals.read(request);
      if (reading) unwatch(client, reading.key);
      return reading ?? null;
    }
    case 'settle':
      await host.settle(request);
      return null;
    case 'resize':
      return host.resize(request, request.size);
    case 'terminals':
      return host.terminals.list();
    case 'notified':
      host.terminals.setNotified(request);
      return null;
    case 'stop':
      await host.close({ graceMs: 500 });
      return null;
  }
}

/** A client watches a process once, however often it attaches. */
function watch(host: ProcessHost, client: Client, key: string): void {
  const { socket, watched } = client;
  if (watched.has(key)) return;
  const stop = host.watch(key, {
    onOutput: (text) => {
      if (socket.writableLength < backlogLimitBytes) writeJsonLine(socket, { event: 'output', key, text });
    },
    onExit: (exit) => {
      watched.delete(key);
      writeJsonLine(socket, { event: 'exit', key, exit });
    },
  });
  if (stop) watched.set(key, stop);
}

function unwatch({ watched }: Client, key: string): void {
  watched.get(key)?.();
  watched.delete(key);
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
}
