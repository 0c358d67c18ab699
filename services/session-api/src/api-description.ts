import { createSecretBox } from '@holdfast/config';
import { createHttpStore } from '@holdfast/store-client';
import { createLogger } from '@holdfast/telemetry';
import { createCourier } from './domain/courier.ts';
import { createMachineNames } from './domain/machine-names.ts';
import { createSessionServer, type SessionServerOptions } from './server.ts';

/** The OpenAPI document of the public door, made from its routes; nothing listens and nothing is contacted. */
export async function describeSessionApi(): Promise<object> {
  const app = await createSessionServer(toIdleParts());
  await app.ready();
  const document = app.swagger();
  await app.close();
  return document;
}

/** What a server is made of, connected to nothing. */
function toIdleParts(): SessionServerOptions {
  const store = createHttpStore({ url: 'http://127.0.0.1', token: '' });
  const logger = createLogger({ service: 'session-api', level: 'silent' });
  const refuse = () => Promise.reject(new Error('a description serves no requests'));
  return {
    store,
    bus: {
      connected: () => false,
      publishCancel: () => undefined,
      askMachine: () => Promise.resolve(undefined),
      subscribeEvents: () => () => undefined,
      subscribeDeltas: () => () => undefined,
    },
    delivery: { submit: refuse, refreshTools: refuse, interrupt: refuse, approve: refuse, close: refuse },
    courier: createCourier({ logger }),
    machines: createMachineNames(store),
    secrets: createSecretBox(''),
    token: '',
    logger,
    readiness: () => Promise.resolve('this is a description'),
  };
}
