import { request as httpRequest } from 'node:http';
import { describe, expect, test } from 'vitest';
import { startModelServer, type Script } from '../src/index.ts';
import {
  ask,
  owned,
  post,
  readError,
  toItems,
  toOutput,
  toRejection,
  toTexts,
  toUser,
  type Item,
} from './client.ts';

const toScript = (...texts: string[]): Script => ({ replies: texts.map((text) => ({ output: [{ text }] })) });

describe('a session', () => {
  test('goes on in a new server process where it was', async () => {
    const script: Script = {
      name: 'long',
      replies: [
        { output: [{ text: 'Looking.' }, { call: { name: 'exec_command', arguments: { cmd: 'true' } } }] },
        { output: [{ text: 'first answer' }] },
        { output: [{ text: 'second answer' }] },
      ],
    };
    const input: Item[] = [toUser('go')];
    const texts: string[][] = [];
    for (const follow of [toOutput('call_r0_1'), toUser('more'), toUser('even more')]) {
      await using server = owned(await startModelServer({ script }));
      const events = await ask(server.url, input);
      texts.push(toTexts(events));
      input.push(...toItems(events), follow);
    }
    expect(texts).toEqual([['Looking.'], ['first answer'], ['second answer']]);
    await using server = owned(await startModelServer({ script }));
    expect(await readError(await post(server.url, input))).toEqual({
      status: 400,
      error: {
        type: 'invalid_request_error',
        code: 'script_exhausted',
        param: null,
        message:
          'The script "long" has no reply 3: it has 3, 3 played, and the last input item is message user [{"type":"input_text","text":"even more"}]; add a reply or set "loop": true.',
      },
    });
  });

  test('plays the script of its own path', async () => {
    await using server = owned(
      await startModelServer({ script: toScript('root'), scripts: { early: toScript('early') } }),
    );
    const url = server.addScript('a b', toScript('late'));
    expect(url).toBe(`http://127.0.0.1:${server.port}/s/a%20b/v1`);
    expect(toTexts(await ask(url, 'go'))).toEqual(['late']);
    expect(toTexts(await ask(`http://127.0.0.1:${server.port}/s/early/v1`, 'go'))).toEqual(['early']);
    expect(toTexts(await ask(server.url, 'go'))).toEqual(['root']);
    expect(server.requests.map(({ scriptId }) => scriptId)).toEqual(['a b', 'early', undefined]);
    expect(await readError(await post(`http://127.0.0.1:${server.port}/s/c/v1`, 'go'))).toMatchObject({
      status: 404,
      error: { code: 'script_not_found', message: 'There is no script "c"; known: early, a b.' },
    });
  });

  test('can be answered by a function, whose error ends it loudly', async () => {
    await using server = owned(
      await startModelServer({
        defaultReply: (request, number) => {
          if (number === 1) throw new Error('nothing left to say');
          return { output: [{ text: `${request.model} ${number}` }] };
        },
      }),
    );
    const events = await ask(server.url, 'go');
    expect(toTexts(events)).toEqual(['scripted 0']);
    expect(await readError(await post(server.url, [toUser('go'), ...toItems(events)]))).toMatchObject({
      status: 400,
      error: { code: 'script_failed', message: 'nothing left to say' },
    });
  });

  test('without script and key is told so, with the start of its prompt', async () => {
    await using server = owned(await startModelServer());
    const [text = ''] = toTexts(
      await ask(server.url, [toUser('context'), toUser(`fix ${'😀'.repeat(300)}`)]),
    );
    expect(text).toMatch(/scripted model.*OPENAI_API_KEY is not set.*no real model/);
    expect(text.endsWith(`Your prompt was: "fix ${'😀'.repeat(196)}…"`)).toBe(true);
  });
});

describe('a request that cannot be answered', () => {
  test('without the required key is refused, and the key sent is not kept', async () => {
    await using server = owned(await startModelServer({ requireKey: 'sk-right-0123456789' }));
    const headers = { authorization: 'Bearer sk-wrong-0123456789' };
    expect(await readError(await post(server.url, 'go', { headers }))).toEqual({
      status: 401,
      error: {
        type: 'invalid_request_error',
        code: 'invalid_api_key',
        param: null,
        message: 'The API key is not the one this server wants; Bearer ****6789 was sent.',
      },
    });
    expect(server.requests[0]?.headers['authorization']).toBe('Bearer ****6789');
    expect(
      await ask(server.url, 'go', { headers: { authorization: 'Bearer sk-right-0123456789' } }),
    ).toHaveLength(9);
  });

  test('for an unknown model names the known ones, which are also listed', async () => {
    await using server = owned(await startModelServer({ models: ['m1', 'm2'] }));
    expect(await readError(await post(server.url, 'go'))).toMatchObject({
      status: 404,
      error: { code: 'model_not_found', message: 'The model "scripted" does not exist here; known: m1, m2.' },
    });
    const list = await fetch(`${server.url}/models`);
    expect(await list.json()).toEqual({
      object: 'list',
      data: ['m1', 'm2'].map((id) => ({ id, object: 'model', created: 0, owned_by: 'holdfast' })),
    });
  });

  test.each([
    ['a body that is not JSON', '{', 'The body is not a JSON object; send a Responses API request.'],
    ['no model', '{"input":"a"}', 'The field "model" is missing; name a model.'],
    [
      'no input',
      '{"model":"m"}',
      'The field "input" is neither a string nor a list of items; send one of them.',
    ],
    ['no stream', '{"model":"m","input":"a"}', 'This server only streams; send "stream": true.'],
  ])('with %s is told what to send', async (_title, body, message) => {
    await using server = owned(await startModelServer());
    const response = await fetch(`${server.url}/responses`, { method: 'POST', body });
    expect(await readError(response)).toMatchObject({ status: 400, error: { message } });
  });

  test('for another path or a WebSocket is told what there is', async () => {
    await using server = owned(await startModelServer());
    expect(await readError(await fetch(`${server.url}/chat/completions?a=b`))).toMatchObject({
      status: 404,
      error: { message: 'There is no GET /v1/chat/completions?a=b; use POST responses or GET models.' },
    });
    const status = await new Promise((resolve, reject) => {
      const headers = { connection: 'Upgrade', upgrade: 'websocket' };
      const request = httpRequest(`${server.url}/responses`, { headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      });
      request.on('error', reject).end();
    });
    expect(status).toBe(426);
  });
});

describe('the record of requests', () => {
  test('holds what was asked and when it was answered', async () => {
    const seen: number[] = [];
    await using server = owned(
      await startModelServer({ script: toScript('a'), onRequest: ({ number }) => seen.push(number ?? 0) }),
    );
    await ask(server.url, 'go', { headers: { 'session-id': 's1', authorization: 'Bearer short' } });
    const [record] = server.requests;
    expect(record).toMatchObject({
      number: 1,
      method: 'POST',
      path: '/v1/responses',
      reply: 0,
      status: 200,
      outcome: 'completed',
    });
    expect(record?.headers).toMatchObject({ 'session-id': 's1', authorization: 'Bearer ****' });
    expect(record?.body).toEqual({ model: 'scripted', stream: true, input: 'go' });
    const { receivedAt = 0, firstByteAt = 0, lastByteAt = 0 } = record ?? {};
    expect([receivedAt, firstByteAt, lastByteAt].toSorted((a, b) => a - b)).toEqual([
      receivedAt,
      firstByteAt,
      lastByteAt,
    ]);
    expect(seen).toEqual([1]);
  });

  test('can be waited for by number and by content', async () => {
    await using server = owned(await startModelServer({ script: { ...toScript('a'), loop: true } }));
    const second = server.waitForRequest(2);
    const third = server.waitForRequest(({ body }) => JSON.stringify([body]).includes('three'));
    await (await fetch(`${server.url}/models`)).text();
    for (const prompt of ['one', 'two', 'three']) await ask(server.url, prompt);
    expect((await second).body).toMatchObject({ input: 'two' });
    expect((await third).number).toBe(3);
    expect((await server.waitForRequest(1)).body).toMatchObject({ input: 'one' });
  });

  test('lets a condition that throws fail its own wait and not the request', async () => {
    await using server = owned(await startModelServer({ script: toScript('a') }));
    const fault = new Error('wrong condition');
    const waiting = toRejection(
      server.waitForRequest(() => {
        throw fault;
      }),
    );
    expect(toTexts(await ask(server.url, 'go'))).toEqual(['a']);
    expect(await waiting).toBe(fault);
  });

  test('keeps the newest and says when the asked one is gone', async () => {
    await using server = owned(
      await startModelServer({ script: { ...toScript('a'), loop: true }, maxRequests: 2 }),
    );
    for (const prompt of ['one', 'two', 'three']) await ask(server.url, prompt);
    expect(server.requests.map(({ number }) => number)).toEqual([2, 3]);
    await expect(server.waitForRequest(1)).rejects.toThrow(
      'Request 1 is no longer kept; raise maxRequests above 2 or wait for it earlier.',
    );
  });

  test('stops waiting when the server closes, which may be asked for twice', async () => {
    await using server = owned(await startModelServer());
    const waiting = toRejection(server.waitForRequest(1));
    await Promise.all([server.close(), server.close()]);
    expect(await waiting).toEqual(
      new Error('The model server closed after 0 requests, before the one that was waited for.'),
    );
    await expect(server.waitForRequest(1)).rejects.toThrow('closed after 0 requests');
  });
});

describe('gates and delays', () => {
  test('a gate holds the answer before its first byte', async () => {
    const script: Script = { replies: [{ output: [{ text: 'a' }], gate: 'start' }], loop: true };
    await using server = owned(await startModelServer({ script }));
    const gate = server.gate('start');
    const answer = ask(server.url, 'go');
    await gate.waiting();
    expect(server.requests.map(({ firstByteAt }) => firstByteAt)).toEqual([undefined]);
    gate.open();
    expect(toTexts(await answer)).toEqual(['a']);
    expect(toTexts(await ask(server.url, 'go'))).toEqual(['a']);
    gate.shut();
    const held = ask(server.url, 'go');
    await gate.waiting();
    gate.open();
    expect(toTexts(await held)).toEqual(['a']);
  });

  test('a gate in the middle holds the answer after its first delta', async () => {
    const script: Script = {
      replies: [{ output: [{ text: 'abcd' }], chunk: { size: 2 }, midGate: 'middle' }],
    };
    await using server = owned(await startModelServer({ script }));
    const gate = server.gate('middle');
    const answer = ask(server.url, 'go');
    await gate.waiting();
    const { firstByteAt, lastByteAt } = server.requests[0] ?? {};
    expect([typeof firstByteAt, typeof lastByteAt]).toEqual(['number', 'undefined']);
    gate.open();
    expect(toTexts(await answer)).toEqual(['abcd']);
  });

  test('a client that leaves a gate is no longer held', async () => {
    const script: Script = { replies: [{ output: [{ text: 'a' }], gate: 'start' }] };
    await using server = owned(await startModelServer({ script }));
    const controller = new AbortController();
    const answer = toRejection(post(server.url, 'go', { signal: controller.signal }));
    await server.gate('start').waiting();
    controller.abort();
    expect(await answer).toBe(controller.signal.reason);
    await server.close();
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(['left']);
  });

  test('delays part the first byte and each delta from what came before', async () => {
    const script: Script = {
      replies: [{ output: [{ text: 'abc' }], delayMs: 20, chunk: { size: 1, delayMs: 10 } }],
    };
    await using server = owned(await startModelServer({ script }));
    expect(toTexts(await ask(server.url, 'go'))).toEqual(['abc']);
    const { receivedAt = 0, firstByteAt = 0, lastByteAt = 0 } = server.requests[0] ?? {};
    // Timers may fire up to a millisecond early.
    expect(firstByteAt - receivedAt).toBeGreaterThanOrEqual(19);
    expect(lastByteAt - firstByteAt).toBeGreaterThanOrEqual(18);
  });
});
