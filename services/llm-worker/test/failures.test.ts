// Each way in which an endpoint fails, from the wire to the code.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Failure } from '@holdfast/failures';
import type { Reply } from '@holdfast/model-script';
import { describe, expect, test } from 'vitest';
import { toRetryAfterMs } from '../src/adapters/retry-after.ts';
import { startHarness, toRejection } from './harness.ts';
import { toRequest } from './recording-store.ts';

const never = new AbortController().signal;

type Fail = NonNullable<Reply['fail']>;
const scripted: [string, Fail, string, string | undefined][] = [
  ['401', { status: 401 }, 'model.unauthorized', undefined],
  ['403', { status: 403 }, 'model.unauthorized', undefined],
  ['404 model_not_found', { status: 404, message: 'no m' }, 'model.not-found', 'no m'],
  [
    '404 of a wrong path',
    { status: 404, code: 'unknown_path', message: 'no path' },
    'model.invalid-request',
    'no path',
  ],
  ['402', { status: 402, code: 'x', message: 'pay' }, 'model.quota-exceeded', 'pay'],
  [
    '429 insufficient_quota',
    { status: 429, code: 'insufficient_quota', message: 'used up' },
    'model.quota-exceeded',
    'used up',
  ],
  [
    '429 usage_limit_reached',
    { status: 429, code: 'usage_limit_reached', message: 'plan' },
    'model.quota-exceeded',
    'plan',
  ],
  ['429', { status: 429, message: 'slow' }, 'model.rate-limited', 'slow'],
  ['500', { status: 500, message: 'oops' }, 'model.unavailable', 'oops'],
  ['502', { status: 502, message: 'gateway' }, 'model.unavailable', 'gateway'],
  ['408', { status: 408, code: 'x', message: 'slow client' }, 'model.unavailable', 'slow client'],
  ['503 of an overloaded model', { status: 503, message: 'full' }, 'model.overloaded', 'full'],
  ['503 of a gateway', { status: 503, code: 'x', message: 'down' }, 'model.unavailable', 'down'],
  ['400', { status: 400, message: 'bad' }, 'model.invalid-request', 'bad'],
  [
    '400 context_length_exceeded',
    { status: 400, code: 'context_length_exceeded', message: 'long' },
    'model.context-overflow',
    'long',
  ],
  ['a stream cut by the network', { cut: { afterChunks: 1 } }, 'model.stream-cut', 'UND_ERR_SOCKET'],
  ['a stream that just ends', { cut: { afterChunks: 1, clean: true } }, 'model.stream-cut', undefined],
  ['a silent stream', { idle: { afterChunks: 1 } }, 'model.stream-idle', '50 ms without an event'],
  ...(
    [
      ['context_length_exceeded', 'model.context-overflow'],
      ['insufficient_quota', 'model.quota-exceeded'],
      ['server_is_overloaded', 'model.overloaded'],
      ['slow_down', 'model.overloaded'],
      ['server_error', 'model.unavailable'],
      ['invalid_prompt', 'model.invalid-request'],
      ['bio_policy', 'model.failed'],
    ] as const
  ).map(([code, expected]): [string, Fail, string, string] => [
    `response.failed ${code}`,
    { error: { code, message: 'why' } },
    expected,
    `${code}: why`,
  ]),
];

describe('classification', () => {
  test.each(scripted)('%s is called what it is', async (_name, fail, code, detail) => {
    await using harness = await startHarness({
      replies: [{ output: [{ text: 'some text' }], chunk: { size: 4 }, fail }],
      idleMs: 'idle' in fail ? 50 : 300_000,
    });
    const failure = (await toRejection(harness.streamer.sample(toRequest(), never))) as Failure;
    expect(failure).toBeInstanceOf(Failure);
    const shown =
      code === 'model.unauthorized'
        ? `HTTP ${'status' in fail ? fail.status : 0} from ${harness.server.url}`
        : detail;
    expect({ code: failure.code, detail: failure.detail }).toEqual({ code, detail: shown });
  });

  test('a rate limit inside a stream says only in its text how long it lasts', async () => {
    const error = { code: 'rate_limit_exceeded', message: 'Limit reached. Please try again in 11.054s.' };
    await using harness = await startHarness({ replies: [{ output: [], fail: { error } }] });
    const failure = (await toRejection(harness.streamer.sample(toRequest(), never))) as Failure;
    expect(failure.code).toBe('model.rate-limited');
    expect(failure.retryAfterMs).toBeGreaterThanOrEqual(11_054);
    expect(failure.retryAfterMs).toBeLessThanOrEqual(12_160);
  });

  test('a rate limit with retry-after asks for that pause and tells people', async () => {
    const fail = { status: 429, message: 'slow', retryAfterSeconds: 7 };
    await using harness = await startHarness({ replies: [{ output: [], fail }] });
    const failure = (await toRejection(harness.streamer.sample(toRequest(), never))) as Failure;
    expect(failure.retryAfterMs).toBeGreaterThanOrEqual(7_000);
    expect(failure.retryAfterMs).toBeLessThanOrEqual(7_700);
    expect(failure.detail).toMatch(/^slow; asked for a pause of [78] s$/);
    expect(harness.store.retries).toMatchObject([
      { waiting: 'api-limit', error: { code: 'model.rate-limited', message: failure.message } },
    ]);
  });

  test('a rate limit that is over in a moment is a note only', async () => {
    const fail = { status: 429, message: 'slow', retryAfterSeconds: 1 };
    await using harness = await startHarness({ replies: [{ output: [], fail }] });
    const failure = (await toRejection(harness.streamer.sample(toRequest(), never))) as Failure;
    expect(harness.store.retries).toEqual([
      { step: 1, fence: 1, error: { code: 'model.rate-limited', message: failure.message } },
    ]);
  });

  test('an endpoint that refuses the connection is unreachable, without the secrets of its URL', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const endpoint = { baseUrl: `http://127.0.0.1:${port}/v1?key=secret` };
    await using harness = await startHarness({ replies: [{ output: [] }], model: { endpoint } });
    const failure = (await toRejection(harness.streamer.sample(toRequest(), never))) as Failure;
    expect({ code: failure.code, detail: failure.detail }).toEqual({
      code: 'model.unreachable',
      detail: `ECONNREFUSED http://127.0.0.1:${port}/v1`,
    });
    expect(harness.store.retries).toMatchObject([
      { waiting: 'network', error: { message: failure.message } },
    ]);
  });

  test('an endpoint that speaks no TLS is no reason to wait for the network', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const endpoint = { baseUrl: `https://127.0.0.1:${port}/v1` };
    await using harness = await startHarness({ replies: [{ output: [] }], model: { endpoint } });
    const failure = await toRejection(harness.streamer.sample(toRequest(), never));
    await new Promise((resolve) => server.close(resolve));
    expect(failure).toMatchObject({ code: 'model.connection-failed' });
    expect(harness.store.retries.map(({ waiting }) => waiting)).toEqual([undefined]);
  });
});

type Wire = { status?: number; headers?: Record<string, string>; body: string };

/** What no script can say. */
async function failWith(wire: Wire): Promise<Failure> {
  const server = createServer((_request, response) => {
    response.writeHead(wire.status ?? 200, { 'content-type': 'text/event-stream', ...wire.headers });
    response.end(wire.body);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const endpoint = { baseUrl: `http://127.0.0.1:${port}/v1` };
  try {
    await using harness = await startHarness({ replies: [{ output: [] }], model: { endpoint } });
    return (await toRejection(harness.streamer.sample(toRequest(), never))) as Failure;
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

describe('other servers', () => {
  test.each<[string, Wire, string]>([
    [
      'an error event',
      { body: 'event: error\ndata: {"type":"error","code":"server_error","message":"x"}\n\n' },
      'model.unavailable',
    ],
    [
      'an error object as data',
      { body: 'data: {"error":{"code":"rate_limit_exceeded","message":"x"}}\n\n' },
      'model.rate-limited',
    ],
    ['a line that is no JSON', { body: 'data: {oops\n\n' }, 'model.stream-cut'],
    [
      'an incomplete response',
      {
        body: 'data: {"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}\n\n',
      },
      'model.failed',
    ],
    [
      'a missing model without a code',
      { status: 404, body: '{"error":{"type":"not_found_error","message":"x"}}' },
      'model.not-found',
    ],
    ['a 404 page', { status: 404, body: '<html>' }, 'model.invalid-request'],
    ['an HTML error page', { status: 502, body: '<html>' }, 'model.unavailable'],
  ])('%s is classified', async (_name, wire, code) => {
    expect((await failWith(wire)).code).toBe(code);
  });
});

describe('the pause an endpoint asks for', () => {
  const none = () => 0;
  test.each<[Record<string, string>, number | undefined]>([
    [{ 'retry-after-ms': '1500' }, 1500],
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after-ms': '20', 'retry-after': '2' }, 20],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 0],
    [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '6m0s' }, 360_000],
    [
      {
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '17ms',
        'x-ratelimit-reset-requests': '1h',
      },
      17,
    ],
    [{ 'x-ratelimit-remaining-requests': '3', 'x-ratelimit-reset-requests': '1s' }, undefined],
    [{}, undefined],
  ])('from %o is %s ms', (headers, expected) => {
    expect(toRetryAfterMs({ headers: new Headers(headers) }, none)).toBe(expected);
  });

  test('grows by at most a tenth, never shrinks', () => {
    const headers = new Headers({ 'retry-after': '10' });
    expect(toRetryAfterMs({ headers }, () => 1)).toBe(11_000);
    expect(toRetryAfterMs({ headers }, none)).toBe(10_000);
  });
});
