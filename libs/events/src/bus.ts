import type { Delta, SessionEvent } from '@holdfast/protocol';
// bus.ts: live coordination over NATS. Losing any message, or all of NATS, costs nobody anything but the live picture:
// events are read from the store when a gap shows, deltas are never needed, cancel hints only make a cancel faster.
import { jetstream, jetstreamManager, type JetStreamClient } from '@nats-io/jetstream';
import { connect, type Msg, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import { toEventMessages } from './event-messages.ts';
import { askMachine, reply, type MachineReply, type MachineRequest } from './machine-requests.ts';
import {
  eventStream,
  toCallSubject,
  toCancelSubject,
  toDeltaSubject,
  toEventSubject,
  toMachineSubject,
  type CancelAudience,
} from './subjects.ts';

/** A turn that was ended; whoever works for it should stop. */
export type CancelHint = { sessionId: string; turnId: string };

/** Calls of a committed reply that the workflow is about to dispatch together; their machine may claim them at once. */
export type CallHint = { sessionId: string; turnId: string; callIds: readonly string[] };

export type EventBus = {
  /** True while NATS can be reached. */
  connected(): boolean;
  /** Resolves when NATS has been reached for the first time; rejects when the bus is closed before. */
  ready(): Promise<void>;
  /** Resolves when JetStream has stored these events of one session. @throws Error while NATS cannot be reached */
  publishEvents(events: readonly SessionEvent[]): Promise<void>;
  /** Best effort; dropped silently without a connection. */
  publishDelta(delta: Delta): void;
  publishCancel(audience: CancelAudience, hint: CancelHint): void;
  publishCalls(machineId: string, hint: CallHint): void;
  subscribeEvents(sessionId: string, receive: (event: SessionEvent) => void): () => void;
  subscribeDeltas(sessionId: string, receive: (delta: Delta) => void): () => void;
  subscribeCancels(audience: CancelAudience, receive: (hint: CancelHint) => void): () => void;
  subscribeCalls(machineId: string, receive: (hint: CallHint) => void): () => void;
  /** Undefined when the machine does not answer: it is offline, or NATS is. @throws Error with the words of a machine that could not do it */
  askMachine<Request extends MachineRequest>(
    machineId: string,
    request: Request,
  ): Promise<MachineReply<Request> | undefined>;
  /** A throw is told to whoever asked. */
  answerMachine(
    machineId: string,
    answer: (request: MachineRequest) => Promise<MachineReply<MachineRequest>>,
  ): () => void;
  close(): Promise<void>;
};

/** How long events stay in the stream: viewers that were away longer read Postgres. */
const retentionNanos = 3_600_000_000_000;
const streamLimitBytes = 256 * 1024 * 1024;

/**
 * Connects in the background and for ever again; never throws because NATS is away.
 * @param options.url `nats://host:port`, with a token as user name where the server wants one
 */
export function createBus(options: { url: string; name: string }): EventBus {
  const state: { connection?: NatsConnection; reachable: boolean; closed: boolean } = {
    reachable: false,
    closed: false,
  };
  const subscriptions = new Set<(connection: NatsConnection) => void>();
  const opened = open(options, () => state.closed).then(async (connection) => {
    if (state.closed) await connection?.close();
    if (!connection || state.closed) throw new Error('the bus was closed before NATS answered');
    state.connection = connection;
    state.reachable = true;
    void followReachability(connection, state);
    for (const start of subscriptions) start(connection);
  });
  opened.catch(() => undefined);
  const publish = (subject: string, value: unknown) => {
    if (state.connection && !state.connection.isClosed())
      state.connection.publish(subject, JSON.stringify(value));
  };
  const subscribe = createSubscriber(state, subscriptions);
  let stream: JetStreamClient | undefined;
  return {
    connected: () => state.reachable,
    ready: () => opened,
    publishEvents: async (events) => {
      const { connection } = state;
      if (!connection) throw new Error('NATS cannot be reached');
      stream ??= jetstream(connection);
      for (const { subject, msgID, text } of toEventMessages(events)) {
        await stream.publish(subject, text, { msgID });
      }
    },
    publishDelta: (delta) => publish(toDeltaSubject(delta.sessionId), delta),
    publishCancel: (audience, hint) => publish(toCancelSubject(audience), hint),
    publishCalls: (machineId, hint) => publish(toCallSubject(machineId), hint),
    subscribeEvents: (sessionId, receive) =>
      subscribe(toEventSubject(sessionId), (value) => {
        for (const event of value as SessionEvent[]) receive(event);
      }),
    subscribeDeltas: (sessionId, receive) =>
      subscribe(toDeltaSubject(sessionId), (value) => receive(value as Delta)),
    subscribeCancels: (audience, receive) =>
      subscribe(toCancelSubject(audience), (value) => receive(value as CancelHint)),
    subscribeCalls: (machineId, receive) =>
      subscribe(toCallSubject(machineId), (value) => receive(value as CallHint)),
    askMachine: (machineId, request) => askMachine(state.connection, machineId, request),
    answerMachine: (machineId, answer) =>
      subscribe(
        toMachineSubject(machineId),
        (value, message) => void reply(message, answer(value as MachineRequest)),
      ),
    close: async () => {
      state.closed = true;
      await state.connection?.close();
    },
  };
}

/** The connection object outlives the server it is connected to; only its status says whether it is. */
async function followReachability(connection: NatsConnection, state: { reachable: boolean }): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === 'disconnect' || type === 'close') state.reachable = false;
    if (type === 'reconnect') state.reachable = true;
  }
  state.reachable = false;
}

async function open(
  options: { url: string; name: string },
  isClosed: () => boolean,
): Promise<NatsConnection | undefined> {
  const url = new URL(options.url);
  for (;;) {
    try {
      return await connect({
        servers: url.host,
        name: options.name,
        maxReconnectAttempts: -1,
        reconnectTimeWait: 100,
        ...(url.username ? { token: decodeURIComponent(url.username) } : {}),
      });
    } catch {
      if (isClosed()) return undefined;
      await new Promise((resolve) => setTimeout(resolve, 200));
      if (isClosed()) return undefined;
    }
  }
}

function createSubscriber(
  state: { connection?: NatsConnection },
  subscriptions: Set<(connection: NatsConnection) => void>,
) {
  return (subject: string, receive: (value: unknown, message: Msg) => void): (() => void) => {
    let subscription: Subscription | undefined;
    const start = (connection: NatsConnection) => {
      subscription = connection.subscribe(subject, {
        callback: (error, message) => {
          if (!error) receive(message.json(), message);
        },
      });
    };
    if (state.connection) start(state.connection);
    else subscriptions.add(start);
    return () => {
      subscriptions.delete(start);
      subscription?.unsubscribe();
    };
  };
}

/** Creates or updates the stream that keeps events for viewers. Called by the service that publishes them. */
export async function ensureEventStream(options: { url: string }): Promise<void> {
  const connection = await open({ url: options.url, name: 'stream-setup' }, () => false);
  if (!connection) return;
  try {
    const manager = await jetstreamManager(connection);
    const config = {
      name: eventStream.name,
      subjects: [eventStream.subject],
      max_age: retentionNanos,
      max_bytes: streamLimitBytes,
    };
    await manager.streams.add(config).catch(() => manager.streams.update(eventStream.name, config));
  } finally {
    await connection.close();
  }
}
