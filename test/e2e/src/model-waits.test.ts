import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { toWorkflowId } from '@holdfast/contracts';
import { startModelServer } from '@holdfast/model-script';
import { answer, driveSession, expectSoundLog, script, startTestStack, toLine } from '@holdfast/testing';
import type { TestStack } from '@holdfast/testing';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

/** A port of the loopback where nothing listens. */
async function findDeadPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function driveUnreachable(port: number) {
  const model = { name: 'scripted', baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'sk-away' };
  const created = await stack.client.createSession({
    settings: { cwd: stack.folder(), machine: 'local', model },
    input: { inputId: 'first', text: 'go' },
  });
  return stack.client.open(created.sessionId);
}

type Session = Awaited<ReturnType<typeof driveUnreachable>>;

async function untilStatus(session: Session, status: string) {
  const stop = new AbortController();
  const seen = [];
  for await (const event of session.events({ signal: stop.signal })) {
    seen.push(event);
    if (event.type === 'status' && event.status === status) break;
  }
  stop.abort();
  return seen;
}

/** The model call as Temporal holds it between two attempts: the next attempt's number and what goes along to it. */
async function readPendingSample(client: Client, sessionId: string) {
  const { raw } = await client.workflow.getHandle(toWorkflowId(sessionId)).describe();
  const [pending] = raw.pendingActivities ?? [];
  const [carried] = pending?.heartbeatDetails?.payloads ?? [];
  return {
    attempt: pending?.attempt ?? 0,
    carried: carried?.data ? (JSON.parse(Buffer.from(carried.data).toString()) as unknown) : undefined,
  };
}

describe('a model endpoint that cannot be reached', () => {
  test('lets the turn wait visibly, without counting attempts, until it answers', async () => {
    const port = await findDeadPort();
    const session = await driveUnreachable(port);
    const waiting = (await untilStatus(session, 'waiting')).at(-1);
    expect(waiting).toMatchObject({ reason: 'network', detail: expect.stringContaining('ECONNREFUSED') });
    expect((await session.read()).state).toBe('waiting');
    const connection = await Connection.connect({ address: stack.addresses()['temporal'] ?? '' });
    const client = new Client({ connection, namespace: 'holdfast' });
    await expect
      .poll(() => readPendingSample(client, session.sessionId), { timeout: 30_000 })
      .toEqual({ attempt: 3, carried: { networkWaits: 2 } });
    await connection.close();
    const model = await startModelServer({ port, script: script(answer('here again')) });
    const events = await untilStatus(session, 'completed');
    await model.close();
    expectSoundLog(events);
    expect(events.map(toLine)).toEqual([
      'status starting',
      'step 1 started',
      'status waiting',
      'text here again',
      'usage 1',
      'step 1 completed',
      'status completed',
    ]);
  });

  test('does not keep an interrupt from ending the turn at once', async () => {
    const session = await driveUnreachable(await findDeadPort());
    await untilStatus(session, 'waiting');
    await session.interrupt();
    expect(await session.read()).toMatchObject({ state: 'idle' });
    expect((await session.listTurns()).map(({ status }) => status)).toEqual(['cancelled']);
  });
});

describe('a rate limit', () => {
  test('is told as waiting, and the turn goes on after it', async () => {
    const fail = { status: 429, message: 'too fast', retryAfterSeconds: 2.5 };
    const session = await driveSession(stack, script({ ...answer('done'), fail }), { prompt: 'go' });
    const events = await session.untilTurnEnds();
    const detail = expect.stringContaining('too fast; asked for a pause of 3 s');
    expect(events[2]).toMatchObject({ status: 'waiting', reason: 'api-limit', detail });
    expect(events.at(-1)).toMatchObject({ status: 'completed' });
  });
});
