import { describe, expect, test } from 'vitest';
import { startModelServer, type ScriptedFailure } from '../src/index.ts';
import { ask, owned, post, readError, readEvents, readUntilEnd, toTexts } from './client.ts';

async function startFailing(fail: ScriptedFailure) {
  const script = { replies: [{ output: [{ text: 'abcdef' }], chunk: { size: 2 }, fail }] };
  return owned(await startModelServer({ script }));
}

describe('an HTTP failure', () => {
  test.each([
    [
      { status: 400, code: 'invalid_prompt', message: 'No.' },
      { type: 'invalid_request_error', code: 'invalid_prompt', message: 'No.' },
    ],
    [
      { status: 401 },
      { type: 'invalid_request_error', code: 'invalid_api_key', message: 'The API key is not valid.' },
    ],
    [
      { status: 404 },
      { type: 'invalid_request_error', code: 'model_not_found', message: 'The model does not exist.' },
    ],
    [
      { status: 429 },
      { type: 'requests', code: 'rate_limit_exceeded', message: 'Too many requests; try again later.' },
    ],
    [
      { status: 429, code: 'insufficient_quota', message: 'Pay.' },
      { type: 'insufficient_quota', code: 'insufficient_quota', message: 'Pay.' },
    ],
    [
      { status: 500 },
      {
        type: 'server_error',
        code: 'server_error',
        message: 'The server had an error while it processed the request.',
      },
    ],
  ])('%j has the shape of the API and happens once', async (fail, error) => {
    await using server = await startFailing(fail);
    expect(await readError(await post(server.url, 'go'))).toEqual({
      status: fail.status,
      error: { ...error, param: null },
    });
    expect(toTexts(await ask(server.url, 'go'))).toEqual(['abcdef']);
    expect(server.requests.map(({ status, reply, outcome }) => [status, reply, outcome])).toEqual([
      [fail.status, 0, 'failed'],
      [200, 0, 'completed'],
    ]);
  });

  test('says when to come back', async () => {
    await using server = await startFailing({ status: 429, retryAfterSeconds: 3 });
    const response = await post(server.url, 'go');
    expect(response.headers.get('retry-after')).toBe('3');
    await response.body?.cancel();
  });

  test('happens as often as it should, for each session apart', async () => {
    await using server = await startFailing({ status: 500, times: 2 });
    const askAs = async (key: string) => {
      const response = await post(server.url, 'go', { body: { prompt_cache_key: key } });
      await response.text();
      return response.status;
    };
    expect([
      await askAs('a'),
      await askAs('b'),
      await askAs('a'),
      await askAs('a'),
      await askAs('b'),
    ]).toEqual([500, 500, 500, 200, 500]);
  });

  test('can be for always', async () => {
    await using server = await startFailing({ status: 503, times: 'always' });
    const statuses: number[] = [];
    for (let round = 0; round < 4; round += 1) statuses.push((await post(server.url, 'go')).status);
    expect(statuses).toEqual([503, 503, 503, 503]);
  });
});

const head = [
  'response.created',
  'response.in_progress',
  'response.output_item.added',
  'response.content_part.added',
];
const delta = 'response.output_text.delta';
const tail = ['response.output_text.done', 'response.content_part.done', 'response.output_item.done'];

describe('a cut stream', () => {
  test.each([
    [{ afterChunks: 0 }, head, true],
    [{ afterChunks: 2 }, [...head, delta, delta], true],
    [{ afterChunks: 9 }, [...head, delta, delta, delta, ...tail], true],
    [{ afterChunks: 1, clean: true }, [...head, delta], false],
  ])('%j ends exactly there and plays in full the next time', async (cut, types, isBroken) => {
    await using server = await startFailing({ cut });
    expect(await readUntilEnd(await post(server.url, 'go'))).toEqual({ types, isBroken });
    expect(toTexts(await ask(server.url, 'go'))).toEqual(['abcdef']);
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(['cut', 'completed']);
  });
});

describe('a failed response', () => {
  test('says its code in response.failed before any output', async () => {
    const error = { code: 'context_length_exceeded', message: 'Too long.' };
    await using server = await startFailing({ error });
    const events = await ask(server.url, 'go');
    expect(events.map(({ type, sequence_number: number }) => [type, number])).toEqual([
      ['response.created', 0],
      ['response.in_progress', 1],
      ['response.failed', 2],
    ]);
    expect(events[2]?.['response']).toEqual({
      ...(events[0]?.['response'] as object),
      status: 'failed',
      error,
    });
  });

  test('can come after some output', async () => {
    await using server = await startFailing({
      error: { code: 'server_is_overloaded', message: 'Later.', afterChunks: 1 },
    });
    expect((await ask(server.url, 'go')).map(({ type }) => type)).toEqual([
      ...head,
      delta,
      'response.failed',
    ]);
  });
});

describe('an idle stream', () => {
  test('stays open and silent until the client leaves', async () => {
    await using server = await startFailing({ idle: { afterChunks: 1 } });
    const controller = new AbortController();
    const types: string[] = [];
    const reading = (async () => {
      for await (const event of readEvents(await post(server.url, 'go', { signal: controller.signal }))) {
        types.push(event.type);
        if (event.type === delta) controller.abort();
      }
    })();
    await expect(reading).rejects.toThrow(/abort/i);
    expect(types).toEqual([...head, delta]);
    expect(toTexts(await ask(server.url, 'go'))).toEqual(['abcdef']);
  });

  test('ends when the server closes', async () => {
    await using server = await startFailing({ idle: { afterChunks: 9 } });
    const types: string[] = [];
    const reading = (async () => {
      for await (const event of readEvents(await post(server.url, 'go'))) {
        types.push(event.type);
        if (event.type === 'response.output_item.done') void server.close();
      }
    })();
    await expect(reading).rejects.toThrow('terminated');
    expect(types).toEqual([...head, delta, delta, delta, ...tail]);
    await server.close();
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(['left']);
  });
});
