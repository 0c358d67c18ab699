import { randomUUID } from 'node:crypto';
import {
  createMemoryStore,
  createPostgresStore,
  migrate,
  openDatabase,
  Outbox,
  startHistoryStore,
} from '@holdfast/history-store';
import type { SessionEvent } from '@holdfast/protocol';
import { createHttpStore } from '@holdfast/store-client';
import { describeHistoryStore, expectSameBehaviour } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestDatabases, type TestDatabases } from './test-databases.ts';

let postgres: TestDatabases;

beforeAll(async () => {
  postgres = await startTestDatabases();
});
afterAll(() => postgres.close());

const createUrl = () => postgres.create();
const expire = { name: 'expire', text: 'update machines set lease_expires_at = clock_timestamp()' };
const nobody = { TEMPORAL_ADDRESS: '127.0.0.1:1', NATS_URL: 'nats://127.0.0.1:1' };
const token = 'token-of-the-conformance-test';

async function openStore(onEvents: (events: SessionEvent[]) => void = () => undefined) {
  const database = openDatabase({ url: await createUrl(), name: 'conformance', connections: 5 });
  await migrate(database);
  return { database, store: createPostgresStore({ database, onEvents }) };
}

async function startOverHttp(env: Record<string, string> = {}) {
  const service = await startHistoryStore({
    ...nobody,
    DATABASE_URL: await createUrl(),
    HOLDFAST_INTERNAL_TOKEN: token,
    HOLDFAST_STORE_PORT: '0',
    HOLDFAST_LOG_LEVEL: 'silent',
    ...env,
  });
  const url = `http://127.0.0.1:${service.port}`;
  return { url, service, store: createHttpStore({ url, token }) };
}

async function startSession(store: ReturnType<typeof createHttpStore>) {
  const sessionId = randomUUID();
  const machineId = `id-${sessionId}`;
  const capabilities = { platform: 'linux', arch: 'x64', hostname: 'h', workspace: '/w', protocol: 1 };
  const catalog = { digest: 'a'.repeat(64), tools: [] };
  await store.registerMachine({
    machineId,
    kind: 'machine',
    name: `m-${sessionId}`,
    bootId: 'b',
    catalog,
    capabilities,
  });
  const settings = { cwd: '/w', machineId, model: { name: 'm' }, approvalPolicy: 'never' as const };
  await store.createSession({ sessionId, title: '', settings, context: [] });
  return { sessionId, machineId };
}

async function startTurn(store: ReturnType<typeof createHttpStore>, sessionId: string) {
  await store.addInput({ sessionId, input: { inputId: 'a', kind: 'prompt', text: 'x' } });
  return store.openStep({ sessionId, turnId: 'a', step: 1, inputs: ['a'] });
}

describeHistoryStore('the Postgres store', async () => {
  const reported: SessionEvent[] = [];
  const { database, store } = await openStore((events) => reported.push(...events));
  return {
    store,
    close: () => database.close(),
    reported: () => reported,
    expireLeases: async () => void (await database.query(expire, [])),
  };
});

describeHistoryStore('the store over HTTP, with Temporal and NATS away', async () => {
  const { service, store } = await startOverHttp();
  return { store, close: () => service.stop() };
});

test('memory and Postgres answer alike, whatever is asked', async () => {
  const { database, store } = await openStore();
  await expectSameBehaviour(createMemoryStore({ onEvents: () => undefined }), store);
  await database.close();
});

describe('the schema', () => {
  test('is migrated once, also by several processes at the same time', async () => {
    const url = await createUrl();
    const opened = [1, 2, 3].map((index) => openDatabase({ url, name: `migrator ${index}`, connections: 1 }));
    const versions = await Promise.all(opened.map(migrate));
    expect(versions.every(({ found, needed }) => found === needed)).toBe(true);
    await Promise.all(opened.map((database) => database.close()));
  });

  test('that is too old is not served when migrating is off', async () => {
    const { url, service } = await startOverHttp({ HOLDFAST_MIGRATE: 'off' });
    const ready = await waitFor(async () => {
      const response = await fetch(`${url}/readyz`);
      const body = (await response.json()) as { reason?: string };
      return body.reason?.includes('version') ? { status: response.status, reason: body.reason } : undefined;
    });
    expect(ready).toEqual({
      status: 503,
      reason: expect.stringMatching(
        /^the schema is at version 0 and this service needs \d+; start one history store with HOLDFAST_MIGRATE=on$/,
      ),
    });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}/v1/listMachines`, { method: 'POST', headers, body: '{}' });
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { error: { code: 'store.unavailable' } },
    ]);
    await service.stop();
  });
});

describe('the HTTP door', () => {
  test('needs the token, validates, and describes itself', async () => {
    const { url, service } = await startOverHttp();
    await waitFor(async () => ((await fetch(`${url}/readyz`)).ok ? true : undefined));
    const post = (headers: Record<string, string>, body: unknown) =>
      fetch(`${url}/v1/readSession`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    expect((await post({}, { sessionId: randomUUID() })).status).toBe(401);
    const invalid = await post({ authorization: `Bearer ${token}` }, { sessionId: 'x' });
    expect([invalid.status, await invalid.json()]).toMatchObject([400, { error: { code: 'input.invalid' } }]);
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
      paths: Record<string, unknown>;
    };
    expect(Object.keys(document.paths)).toContain('/v1/commitStep');
    await service.stop();
  });

  test('answers store.unavailable while Postgres is away and recovers by itself', async () => {
    const { url, service, store } = await startOverHttp();
    const { sessionId } = await startSession(store);
    const hasty = createHttpStore({ url, token, patienceMs: 0 });
    await postgres.stop();
    await expect(hasty.readSession({ sessionId })).rejects.toMatchObject({ code: 'store.unavailable' });
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    const patient = startTurn(store, sessionId);
    await postgres.start();
    expect(await patient).toMatchObject({ kind: 'open', fence: 1 });
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    await service.stop();
  });
});

test('of many claims at once exactly one may run the call', async () => {
  const { database, store } = await openStore();
  const { sessionId, machineId } = await startSession(store);
  await startTurn(store, sessionId);
  const call = {
    modelCallId: 'c',
    tool: 't',
    placement: 'machine',
    parallel: true,
    form: 'function',
    input: '{}',
  } as const;
  const usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningOutputTokens: 0 };
  const step = {
    sessionId,
    turnId: 'a',
    step: 1,
    fence: 1,
    ordinal: 1,
    responseId: 'r',
    items: [],
    calls: [call],
    usage,
  };
  await store.commitStep({ ...step, contextTokens: 0, endTurn: false });
  const others = Array.from({ length: 4 }, () =>
    createPostgresStore({ database, onEvents: () => undefined }),
  );
  const claims = await Promise.all(
    [store, ...others].map((each, index) =>
      each.claimCall({ sessionId, callId: '1.1.0', machineId, bootId: `b${index}` }),
    ),
  );
  expect(claims.map((claim) => claim.kind).toSorted()).toEqual([
    'resolve',
    'resolve',
    'resolve',
    'resolve',
    'run',
  ]);
  await database.close();
});

describe('the outbox', () => {
  /** An event stream that can be away. */
  const createStream = () => {
    const published: number[] = [];
    const state = { away: false };
    const publishEvents = async (events: readonly SessionEvent[]) => {
      if (state.away) throw new Error('away');
      published.push(...events.map(({ seq }) => seq));
    };
    return {
      state,
      published,
      bus: { connected: () => true, publishEvents },
      ensureStream: async () => undefined,
    };
  };
  const logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
  };
  const watermark = {
    name: 'watermark',
    text: 'select published_seq as seq, last_event_seq as last from sessions where session_id = $1',
  };
  const age = { name: 'age', text: "update sessions set updated_at = updated_at - interval '1 minute'" };

  test('publishes every event once and in order, and remembers how far it came', async () => {
    const stream = createStream();
    const state: { outbox?: Outbox } = {};
    const { database, store } = await openStore((events) => state.outbox?.publish(events));
    state.outbox = new Outbox({ database, logger, ...stream });
    const { sessionId } = await startSession(store);
    await startTurn(store, sessionId);
    await store.openStep({ sessionId, turnId: 'a', step: 1, inputs: ['a'] });
    await store.sealTurn({ sessionId, turnId: 'a', end: { kind: 'completed' } });
    await waitFor(async () => (stream.published.length === 5 ? true : undefined));
    await state.outbox.close();
    expect(stream.published).toEqual([1, 2, 3, 4, 5]);
    expect(await database.query(watermark, [sessionId])).toEqual([{ seq: 5, last: 5 }]);
    await database.close();
  });

  test('sends later what it could not send, and what another process left behind', async () => {
    const stream = createStream();
    const state: { outbox?: Outbox } = {};
    const { database, store } = await openStore((events) => state.outbox?.publish(events));
    const { sessionId } = await startSession(store);
    await startTurn(store, sessionId);
    state.outbox = new Outbox({ database, logger, ...stream });
    stream.state.away = true;
    await store.sealTurn({ sessionId, turnId: 'a', end: { kind: 'completed' } });
    await database.query(age, []);
    await state.outbox.sweep();
    expect(stream.published).toEqual([]);
    stream.state.away = false;
    await state.outbox.sweep();
    await state.outbox.close();
    expect(stream.published).toEqual([1, 2, 3, 4]);
    expect(await database.query(watermark, [sessionId])).toEqual([{ seq: 4, last: 4 }]);
    await database.close();
  });
});

/** Asks again until there is an answer; the test's own time limit ends it. */
async function waitFor<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
