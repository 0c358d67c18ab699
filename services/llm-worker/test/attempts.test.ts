import { createSecretBox } from '@holdfast/config';
import { Failure } from '@holdfast/failures';
import { describe, expect, test } from 'vitest';
import { startHarness, toRejection } from './harness.ts';
import { toRequest } from './recording-store.ts';

const never = new AbortController().signal;

describe('a step that is over', () => {
  test('is returned as it was committed, and the model is not asked again', async () => {
    await using harness = await startHarness({ replies: [{ output: [{ text: 'once' }] }] });
    const first = await harness.streamer.sample(toRequest(), never);
    expect(await harness.streamer.sample(toRequest(), never)).toEqual(first);
    expect(harness.server.requests.length).toBe(1);
  });

  test('of a sealed turn does not ask the model', async () => {
    await using harness = await startHarness({ replies: [{ output: [{ text: 'never' }] }] });
    harness.store.sealed = 'cancelled';
    expect(await harness.streamer.sample(toRequest(), never)).toEqual({
      kind: 'sealed',
      status: 'cancelled',
    });
    expect(harness.server.requests.length).toBe(0);
  });
});

describe('a race for a step', () => {
  test('that a late copy of the request opened again is won with the reply at hand, without asking again', async () => {
    await using harness = await startHarness({ replies: [{ output: [{ text: 'kept' }] }] });
    const { store, streamer, server } = harness;
    store.beforeCommit = ({ fence }) => {
      if (fence === 1) store.reopen(1);
    };
    expect(await streamer.sample(toRequest(), never)).toMatchObject({ kind: 'reply', endTurn: true });
    expect(store.commits.map(({ fence, items }) => ({ fence, items }))).toMatchObject([
      { fence: 3, items: [{ content: [{ text: 'kept' }] }] },
    ]);
    expect(server.requests.length).toBe(1);
  });

  test('between two attempts gives both the reply that was committed first', async () => {
    await using harness = await startHarness({
      replies: [{ output: [{ text: 'answer' }] }],
    });
    const { store, streamer, server } = harness;
    let newer: Promise<unknown> | undefined;
    store.beforeCommit = async () => {
      if (newer) return;
      newer = streamer.sample(toRequest(), never);
      await newer;
    };
    const older = await streamer.sample(toRequest(), never);
    expect(older).toEqual(await newer);
    expect(store.commits.map(({ fence }) => fence)).toEqual([2]);
    expect(server.requests.length).toBe(2);
  });

  test('that was opened again with another prompt asks the model again', async () => {
    await using harness = await startHarness({
      replies: [
        { when: { inputContains: 'steered' }, output: [{ text: 'new' }] },
        { output: [{ text: 'old' }] },
      ],
    });
    const { store, streamer } = harness;
    store.beforeCommit = ({ fence }) => {
      if (fence > 1) return;
      store.append({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'steered' }] });
      store.reopen(1);
    };
    await streamer.sample(toRequest(), never);
    expect(store.commits).toMatchObject([{ fence: 3, items: [{ content: [{ text: 'new' }] }] }]);
  });

  test('that never ends is handed back as repeatable', async () => {
    await using harness = await startHarness({ replies: [{ output: [{ text: 'lost' }] }] });
    const { store, streamer } = harness;
    store.beforeCommit = () => void store.reopen(1);
    expect(await toRejection(streamer.sample(toRequest(), never))).toMatchObject({
      code: 'step.retried',
      class: 'transient',
    });
    expect(store.commits).toEqual([]);
  });
});

describe('an abort', () => {
  test('in the middle of a stream ends the connection at once and commits nothing', async () => {
    await using harness = await startHarness({
      replies: [{ output: [{ text: 'first second' }], chunk: { size: 6 }, midGate: 'middle' }],
    });
    const stop = new AbortController();
    const sampling = toRejection(harness.streamer.sample(toRequest(), stop.signal));
    await harness.server.gate('middle').waiting();
    const reason = new Error('interrupted');
    stop.abort(reason);
    expect(await sampling).toBe(reason);
    expect(harness.store.commits).toEqual([]);
    expect(harness.store.retries).toEqual([]);
  });

  test('before the first byte ends the request', async () => {
    await using harness = await startHarness({ replies: [{ output: [{ text: 'x' }], gate: 'start' }] });
    const stop = new AbortController();
    const sampling = toRejection(harness.streamer.sample(toRequest(), stop.signal));
    await harness.server.gate('start').waiting();
    stop.abort();
    expect(await sampling).toBe(stop.signal.reason);
  });

  test('that came before the attempt opens nothing', async () => {
    await using harness = await startHarness({ replies: [{ output: [{ text: 'x' }] }] });
    await toRejection(harness.streamer.sample(toRequest(), AbortSignal.abort()));
    expect(harness.store.opened).toEqual([]);
  });
});

describe('a failure', () => {
  test('that will be repeated is noted for people, without the partial text', async () => {
    await using harness = await startHarness({
      replies: [
        {
          output: [{ text: 'partial text' }],
          chunk: { size: 4 },
          fail: { cut: { afterChunks: 2, clean: true } },
        },
      ],
    });
    const { store, streamer } = harness;
    const failure = (await toRejection(streamer.sample(toRequest(), never))) as Failure;
    expect(failure).toBeInstanceOf(Failure);
    expect(store.retries).toEqual([
      { step: 1, fence: 1, error: { code: 'model.stream-cut', message: failure.message } },
    ]);
    expect(store.commits).toEqual([]);
    expect(await streamer.sample(toRequest(), never)).toMatchObject({ kind: 'reply' });
    expect(store.commits).toMatchObject([{ fence: 2, items: [{ content: [{ text: 'partial text' }] }] }]);
  });

  test('of the last attempt is not announced as one that will be repeated', async () => {
    await using harness = await startHarness({
      replies: [{ output: [], fail: { status: 500, times: 'always' } }],
    });
    const failure = await toRejection(
      harness.streamer.sample(toRequest(), never, { number: 10, networkWaits: 2 }),
    );
    expect(failure).toMatchObject({ code: 'model.unavailable' });
    expect(harness.store.retries).toEqual([]);
  });

  test('that ends the turn is not announced either', async () => {
    await using harness = await startHarness({ replies: [{ output: [], fail: { status: 401 } }] });
    expect(await toRejection(harness.streamer.sample(toRequest(), never))).toMatchObject({
      code: 'model.unauthorized',
    });
    expect(harness.store.retries).toEqual([]);
  });

  test('to note it does not hide the failure itself', async () => {
    await using harness = await startHarness({ replies: [{ output: [], fail: { status: 502 } }] });
    harness.store.noteFailure = () => Promise.reject(new Failure('store.unavailable'));
    expect(await toRejection(harness.streamer.sample(toRequest(), never))).toMatchObject({
      code: 'model.unavailable',
    });
  });
});

describe("a caller's key", () => {
  test.each([
    [{ status: 400, code: 'bad', message: 'KEY is not liked' }, 'model.invalid-request', '*** is not liked'],
    [{ error: { code: 'bad', message: 'KEY is not liked' } }, 'model.failed', 'bad: *** is not liked'],
  ])('reaches the endpoint and is in nothing that a failure says: %o', async (template, code, detail) => {
    const box = createSecretBox('a key of the installation');
    const key = 'sk-very-secret-caller-key';
    const fail = JSON.parse(JSON.stringify(template).replaceAll('KEY', key)) as typeof template;
    await using harness = await startHarness({ replies: [{ output: [], fail }], secretBox: box });
    const endpoint = { baseUrl: harness.server.url, sealedKey: box.seal(key) };
    harness.store.settings = { ...harness.store.settings, model: { name: 'm', endpoint } };
    const failure = (await toRejection(harness.streamer.sample(toRequest(), never))) as Failure;
    expect(harness.server.requests[0]?.headers['authorization']).toBe(`Bearer ****${key.slice(-4)}`);
    expect({ code: failure.code, detail: failure.detail }).toEqual({ code, detail });
  });
});
