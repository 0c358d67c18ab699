// connection.ts: one connection of a tool worker to its process host, and how to get one.
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { readJsonLines, writeJsonLine } from './json-lines.ts';
import { launchHost, type LaunchOptions } from './launch.ts';
import type { HostAnswers, HostMessage, HostRequest, ProcessExit } from './protocol.ts';
import { toRuntimePaths } from './runtime-paths.ts';

export type Watched = {
  onOutput: (text: string) => void;
  onExit: (exit: ProcessExit) => void;
  /** The host is gone. */
  onLost: () => void;
};

type Pending = { answer: (answer: unknown) => void; reject: (error: Error) => void };
type Op = HostRequest['op'];
export type RequestBody<O extends Op> = Omit<Extract<HostRequest, { op: O }>, 'id'> & { op: O };

export const hostGone = 'the process host is gone';
const connectAttempts = 20;
const connectPauseMs = 100;

export class HostConnection {
  readonly #socket: Socket;
  readonly #pending = new Map<number, Pending>();
  readonly #watched = new Map<string, Watched>();
  #lastId = 0;
  /** A terminal has ended whose end is to be told. */
  onEnded: () => void = () => undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    readJsonLines(socket, (message) => this.#receive(message as HostMessage));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      for (const { reject } of this.#pending.values()) reject(new Error(hostGone));
      for (const { onLost } of this.#watched.values()) onLost();
    });
  }

  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  /**
   * `onAnswer` is called before anything that the host has said after the answer is looked at.
   * @throws Error when the host refuses, or is gone
   */
  ask<O extends Op>(
    request: RequestBody<O>,
    onAnswer?: (answer: HostAnswers[O]) => void,
  ): Promise<HostAnswers[O]> {
    const { promise, resolve, reject } = Promise.withResolvers<HostAnswers[O]>();
    const answer = (given: unknown) => {
      onAnswer?.(given as HostAnswers[O]);
      resolve(given as HostAnswers[O]);
    };
    if (this.isClosed) reject(new Error(hostGone));
    this.#lastId += 1;
    this.#pending.set(this.#lastId, { answer, reject });
    writeJsonLine(this.#socket, { id: this.#lastId, ...request });
    return promise;
  }

  /** The newest watch of a key gets its events. @returns how to end it */
  watch(key: string, watched: Watched): () => void {
    this.#watched.set(key, watched);
    return () => {
      if (this.#watched.get(key) === watched) this.#watched.delete(key);
    };
  }

  onClose(listener: () => void): void {
    this.#socket.once('close', listener);
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(message: HostMessage): void {
    if ('event' in message) {
      if (message.event === 'ended') return this.onEnded();
      const watched = this.#watched.get(message.key);
      if (message.event === 'output') watched?.onOutput(message.text);
      else watched?.onExit(message.exit);
      return;
    }
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if ('error' in message) pending?.reject(new Error(message.error));
    else pending?.answer(message.answer);
  }
}

/** Starts a host when there is none. @throws Error when it cannot be started */
export async function openConnection(options: LaunchOptions): Promise<HostConnection> {
  return (await findConnection(options)) ?? (await launch(options));
}

/** Undefined when no host runs. */
export async function findConnection(options: LaunchOptions): Promise<HostConnection | undefined> {
  const socket = await tryConnect(toRuntimePaths(options).socketPath);
  return socket && new HostConnection(socket);
}

/** Another host may have the machine and be on its way up, or down. */
async function launch(options: LaunchOptions): Promise<HostConnection> {
  for (let attempt = 0; attempt < connectAttempts; attempt += 1) {
    await launchHost(options);
    const connection = await findConnection(options);
    if (connection) return connection;
    await delay(connectPauseMs);
  }
  throw new Error(`the process host does not answer on ${toRuntimePaths(options).socketPath}`);
}

/** Undefined when nobody listens there. */
function tryConnect(path: string): Promise<Socket | undefined> {
  const socket = connect(path);
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}
