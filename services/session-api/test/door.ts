import { createSecretBox } from '@holdfast/config';
import { createSessionClient, type SessionClient } from '@holdfast/session-client';
import { createLogger } from '@holdfast/telemetry';
import { courierLimits, createCourier, type CourierLimits } from '../src/domain/courier.ts';
import { createMachineNames } from '../src/domain/machine-names.ts';
import type { ViewerLimits } from '../src/event-viewer.ts';
import type { StreamPace } from '../src/routes/stream-route.ts';
import { createSessionServer } from '../src/server.ts';
import { LocalBus } from './local-bus.ts';
import { MemoryStore, toMachine } from './memory-store.ts';
import { RecordedDelivery } from './recorded-delivery.ts';

export const token = 'token-of-the-test-door';
export const secretKey = 'secret-key-of-the-test';
export const logger = createLogger({ service: 'session-api', level: 'silent' });

export type Door = {
  url: string;
  client: SessionClient;
  store: MemoryStore;
  bus: LocalBus;
  delivery: RecordedDelivery;
  /** A request as any program would send it. */
  send(method: 'GET' | 'POST', path: string, body?: unknown): Promise<{ status: number; body: unknown }>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** The public door on loopback, with a machine named `laptop` and a gateway. */
export async function openDoor(
  options: {
    pace?: StreamPace;
    viewerLimits?: ViewerLimits;
    courier?: Partial<CourierLimits>;
    store?: MemoryStore;
  } = {},
): Promise<Door> {
  const store = options.store ?? new MemoryStore();
  if (!options.store) store.machines.push(toMachine('laptop'), toMachine('mcp', 'gateway'));
  const bus = new LocalBus();
  const delivery = new RecordedDelivery();
  const limits = {
    ...courierLimits,
    answerMs: 200,
    attemptMs: 200,
    firstPauseMs: 5,
    longestPauseMs: 20,
    ...options.courier,
  };
  const courier = createCourier({ logger, limits });
  const app = await createSessionServer({
    store,
    bus,
    delivery,
    courier,
    machines: createMachineNames(store),
    secrets: createSecretBox(secretKey),
    token,
    logger,
    readiness: () => Promise.resolve(undefined),
    ...(options.pace ? { pace: options.pace } : {}),
    ...(options.viewerLimits ? { viewerLimits: options.viewerLimits } : {}),
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    client: createSessionClient({ url, token, patienceMs: 5_000 }),
    store,
    bus,
    delivery,
    send: async (method, path, body) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const headers: Record<string, string> = { authorization: `Bearer ${token}` };
      if (body !== undefined) headers['content-type'] = 'application/json';
      const response = await fetch(url + path, {
        method,
        headers,
        ...(text === undefined ? {} : { body: text }),
      });
      return { status: response.status, body: await response.json() };
    },
    [Symbol.asyncDispose]: async () => {
      await courier.stop();
      await app.close();
    },
  };
}
