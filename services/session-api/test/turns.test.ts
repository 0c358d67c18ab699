import { describe, expect, test } from 'vitest';
import { describeSessionApi } from '../src/index.ts';
import { openDoor, type Door } from './door.ts';

const sessionId = '0f9a3c52-6f0c-4bb8-9a53-6f1c7a7d2a11';
const path = `/v1/sessions/${sessionId}`;

async function openWithSession(options: Parameters<typeof openDoor>[0] = {}): Promise<Door> {
  const door = await openDoor(options);
  await door.client.createSession({ sessionId, settings: { model: { name: 'm' } } });
  door.store.calls.length = 0;
  return door;
}

describe('inputs', () => {
  test('are kept first and delivered second, also when they are sent again', async () => {
    await using door = await openWithSession();
    const body = { inputId: 'in-1', text: 'go' };
    expect(await door.send('POST', `${path}/inputs`, body)).toEqual({
      status: 202,
      body: { duplicate: false, delivered: true },
    });
    expect(await door.send('POST', `${path}/inputs`, { ...body, kind: 'prompt' })).toEqual({
      status: 202,
      body: { duplicate: true, delivered: true },
    });
    await door.client.open(sessionId).steer({ inputId: 'in-2', text: 'faster' });
    expect(door.store.calls.slice(0, 2)).toEqual(['addInput', 'readSession']);
    expect(door.delivery.taken.map(({ id }) => id)).toEqual(['prompt in-1', 'prompt in-1', 'steer in-2']);
  });

  test('are kept while the engine is away, and delivered as soon as it is back', async () => {
    await using door = await openWithSession();
    door.delivery.available = false;
    const receipt = await door.client.open(sessionId).send({ inputId: 'in-1', text: 'go', kind: 'prompt' });
    expect(receipt).toEqual({ duplicate: false, delivered: false });
    expect([...door.store.kept(sessionId).inputs.keys()]).toEqual(['in-1']);
    door.delivery.available = true;
    await door.delivery.until(1);
    expect(door.delivery.taken).toEqual([{ message: 'submit', sessionId, id: 'prompt in-1' }]);
  });

  test('do not wait for an engine that hangs', async () => {
    await using door = await openWithSession();
    door.delivery.stuck.add(sessionId);
    const receipt = await door.client.open(sessionId).send({ inputId: 'in-1', text: 'go', kind: 'prompt' });
    expect(receipt).toEqual({ duplicate: false, delivered: false });
  });

  test.each([
    { body: { inputId: 'in-1', text: '' }, detail: 'text: must not be empty' },
    { body: { inputId: 'a b', text: 'x' }, detail: 'inputId: must be 1 to 64 characters of A-Z a-z 0-9 _ -' },
    { body: { inputId: 'in-1', text: 'a\0b' }, detail: 'text: must be Unicode text without NUL characters' },
    { body: { inputId: 'in-1', text: 'x', knd: 'steer' }, detail: 'body: Unrecognized key: "knd"' },
  ])('are refused in one sentence: $detail', async ({ body, detail }) => {
    await using door = await openWithSession();
    expect(await door.send('POST', `${path}/inputs`, body)).toEqual({
      status: 400,
      body: { error: { code: 'input.invalid', message: `The request is not valid. (${detail})`, detail } },
    });
    expect(door.store.calls).toEqual([]);
  });

  test('are refused when the JSON is broken or the prompt is larger than 1 MiB', async () => {
    await using door = await openWithSession();
    const broken = await door.send('POST', `${path}/inputs`, '{"inputId": ');
    expect(broken).toMatchObject({ status: 400, body: { error: { code: 'input.invalid' } } });
    const session = door.client.open(sessionId);
    await session.submit({ inputId: 'fits', text: 'x'.repeat(1_048_576) });
    for (const text of ['x'.repeat(1_048_577), 'é'.repeat(600_000), 'x'.repeat(9_000_000)]) {
      await expect(session.submit({ inputId: 'large', text })).rejects.toMatchObject({
        code: 'input.too-large',
      });
    }
    expect([...door.store.kept(sessionId).inputs.keys()]).toEqual(['fits']);
  });

  test('are refused for a session that does not exist, and without the token', async () => {
    await using door = await openWithSession();
    const other = door.client.open('0f9a3c52-6f0c-4bb8-9a53-6f1c7a7d2a12');
    await expect(other.submit({ inputId: 'in-1', text: 'x' })).rejects.toMatchObject({
      code: 'session.unknown',
    });
    const response = await fetch(`${door.url}${path}`, { headers: { authorization: 'Bearer wrong' } });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: 'auth.missing' } });
  });
});

describe('an interrupt', () => {
  test('is visible at once although the engine hangs, and hints go to everybody who may work for the turn', async () => {
    await using door = await openWithSession();
    const session = door.client.open(sessionId);
    await session.submit({ inputId: 'in-1', text: 'go' });
    door.store.startTurn(sessionId, 'in-1');
    door.delivery.stuck.add(sessionId);
    expect(await door.send('POST', `${path}/interrupt`)).toEqual({
      status: 200,
      body: { turnId: 'in-1', status: 'cancelled' },
    });
    expect(door.store.kept(sessionId).events.at(-1)).toMatchObject({
      type: 'status',
      status: 'cancelled',
      turnId: 'in-1',
    });
    const hint = { sessionId, turnId: 'in-1' };
    expect(door.bus.cancels).toEqual([
      { audience: 'llm', hint },
      { audience: 'gateway', hint },
      { audience: 'm-laptop', hint },
    ]);
    door.delivery.stuck.clear();
    await door.delivery.until(2);
    expect(door.delivery.taken.at(-1)).toEqual({ message: 'interrupt', sessionId, id: 'in-1' });
  });

  test('sent again after its reply was lost leaves the turn alone that has started since', async () => {
    await using door = await openWithSession();
    const session = door.client.open(sessionId);
    await session.submit({ inputId: 'in-1', text: 'go' });
    await session.submit({ inputId: 'in-2', text: 'next' });
    door.store.startTurn(sessionId, 'in-1');
    const ended = { status: 200, body: { turnId: 'in-1', status: 'cancelled' } };
    expect(await door.send('POST', `${path}/interrupt`, { turnId: 'in-1' })).toEqual(ended);
    door.store.startTurn(sessionId, 'in-2');
    expect(await door.send('POST', `${path}/interrupt`, { turnId: 'in-1' })).toEqual(ended);
    expect((await session.listTurns()).map(({ status }) => status)).toEqual(['cancelled', 'running']);
    await expect(session.interrupt({ turnId: 'in-3' })).rejects.toMatchObject({ code: 'input.invalid' });
  });

  test('says that no turn is running', async () => {
    await using door = await openWithSession();
    await expect(door.client.open(sessionId).interrupt()).rejects.toMatchObject({
      code: 'session.not-running',
    });
  });
});

describe('an approval', () => {
  test('is recorded first; the engine learns of it as soon as it can', async () => {
    await using door = await openWithSession();
    const approvalId = door.store.askApproval(sessionId, '1.1.0');
    door.delivery.available = false;
    const session = door.client.open(sessionId);
    await session.approve({ approvalId, decision: 'accept' });
    await session.approve({ approvalId, decision: 'accept' });
    door.delivery.available = true;
    await door.delivery.until(1);
    expect(door.delivery.taken).toEqual([{ message: 'approve', sessionId, id: approvalId }]);
    await expect(session.approve({ approvalId, decision: 'decline' })).rejects.toMatchObject({
      code: 'approval.decided',
    });
    await expect(session.approve({ approvalId: 'ap_9.9.9', decision: 'accept' })).rejects.toMatchObject({
      code: 'approval.unknown',
    });
  });
});

describe('an approval with questions', () => {
  test('is read with them, and its answers reach the store', async () => {
    await using door = await openWithSession();
    const approvalId = door.store.askApproval(sessionId, '1.1.0');
    const session = door.client.open(sessionId);
    expect(await session.readApproval(approvalId)).toMatchObject({ approvalId, question: 'Run?' });
    const answers = { color: ['Red', 'but not too bright'] };
    await session.approve({ approvalId, decision: 'accept', answers });
    expect(await session.readApproval(approvalId)).toMatchObject({ decision: 'accept', answers });
    await expect(session.readApproval('ap_9.9.9')).rejects.toMatchObject({ code: 'approval.unknown' });
  });

  test.each([
    ['an empty answer', { color: [''] }],
    ['no answer at all', { color: [] }],
    ['text that the store cannot keep', { color: ['a\0b'] }],
    ['an answer that is no list', { color: 'Red' }],
  ])('refuses %s', async (_name, answers) => {
    await using door = await openWithSession();
    const approvalId = door.store.askApproval(sessionId, '1.1.0');
    const body = { decision: 'accept', answers };
    const reply = await door.send('POST', `${path}/approvals/${approvalId}`, body);
    expect(reply).toMatchObject({ status: 400, body: { error: { code: 'input.invalid' } } });
    expect(door.store.calls).not.toContain('decideApproval');
  });
});

describe('refreshing tools', () => {
  test('reaches the engine and says whether it did', async () => {
    await using door = await openWithSession();
    expect(await door.send('POST', `${path}/refresh-tools`)).toEqual({
      status: 202,
      body: { delivered: true },
    });
    expect(door.delivery.taken).toEqual([{ message: 'refreshTools', sessionId, id: 'm-laptop' }]);
  });
});

describe('the OpenAPI document', () => {
  test('describes every route with its answers, without a token and without a running service', async () => {
    await using door = await openDoor();
    const document = (await (await fetch(`${door.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
    };
    expect(JSON.parse(JSON.stringify(await describeSessionApi()))).toEqual(document);
    const routes = Object.entries(document.paths).flatMap(([route, methods]) =>
      Object.entries(methods).map(
        ([method, { responses }]) => `${method} ${route} ${Object.keys(responses).join(' ')}`,
      ),
    );
    expect(routes.toSorted()).toEqual(
      [
        'post /v1/sessions 201 4XX 5XX',
        'get /v1/sessions/{sessionId}/terminals 200 4XX 5XX',
        'post /v1/sessions/{sessionId}/terminals/{terminalId}/kill 200 4XX 5XX',
        'post /v1/sessions/{sessionId}/terminals/clean 200 4XX 5XX',
        'post /v1/sessions/{sessionId}/undo 200 4XX 5XX',
        'get /v1/sessions 200 4XX 5XX',
        'get /v1/sessions/{sessionId} 200 4XX 5XX',
        'post /v1/sessions/{sessionId}/close 200 4XX 5XX',
        'post /v1/sessions/{sessionId}/inputs 202 4XX 5XX',
        'post /v1/sessions/{sessionId}/interrupt 200 4XX 5XX',
        'get /v1/sessions/{sessionId}/approvals/{approvalId} 200 4XX 5XX',
        'post /v1/sessions/{sessionId}/approvals/{approvalId} 200 4XX 5XX',
        'post /v1/sessions/{sessionId}/refresh-tools 202 4XX 5XX',
        'get /v1/sessions/{sessionId}/turns 200 4XX 5XX',
        'get /v1/sessions/{sessionId}/items 200 4XX 5XX',
        'get /v1/sessions/{sessionId}/events 200 4XX 5XX',
        'get /v1/sessions/{sessionId}/events/stream 4XX 5XX',
        'get /v1/machines 200 4XX 5XX',
        'get /v1/blobs/{digest} 200 4XX 5XX',
      ].toSorted(),
    );
  });
});
