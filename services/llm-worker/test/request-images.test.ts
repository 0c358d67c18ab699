import type { BlobRef, Item } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { createImageReader } from '../src/domain/request-images.ts';
import { startHarness } from './harness.ts';
import { RecordingStore, toRequest } from './recording-store.ts';

const image: BlobRef = { digest: 'd'.repeat(64), size: 3, mediaType: 'image/png' };
const item: Item = { type: 'function_call_output', call_id: 'c', output: 'a dot', image };
const parts = {
  type: 'function_call_output',
  call_id: 'c',
  output: [
    { type: 'input_text', text: 'a dot' },
    { type: 'input_image', image_url: 'data:image/png;base64,AQID', detail: 'auto' },
  ],
};

function openStore() {
  const store = new RecordingStore();
  store.blobs.set(image.digest, Uint8Array.of(1, 2, 3));
  return store;
}

describe('the images of a conversation', () => {
  test('become parts of their outputs, and are read once for many requests', async () => {
    const store = openStore();
    const read = createImageReader(store);
    expect(await read([item])).toEqual([parts]);
    expect(await read([item, { ...item, call_id: 'again' }])).toEqual([
      parts,
      { ...parts, call_id: 'again' },
    ]);
    expect(store.blobReads).toEqual([image.digest]);
  });

  test('leave a conversation without any as it is', async () => {
    const items: Item[] = [{ type: 'function_call_output', call_id: 'c', output: 'text' }];
    expect(await createImageReader(new RecordingStore())(items)).toBe(items);
  });

  test('that are lost are told to the model and do not end the session', async () => {
    expect(await createImageReader(new RecordingStore())([item])).toEqual([
      {
        type: 'function_call_output',
        call_id: 'c',
        output: [
          {
            type: 'input_text',
            text: 'a dot\nThe image is no longer kept; look at it again when it is needed.',
          },
        ],
      },
    ]);
  });

  test('reach the endpoint in the next request', async () => {
    await using harness = await startHarness({
      replies: [
        { output: [{ call: { name: 'view_image', arguments: {}, callId: 'c' } }] },
        { output: [{ text: 'I see' }] },
      ],
    });
    const never = new AbortController().signal;
    harness.store.blobs.set(image.digest, Uint8Array.of(1, 2, 3));
    await harness.streamer.sample(toRequest(), never);
    harness.store.append(item);
    await harness.streamer.sample(toRequest(2), never);
    expect(harness.server.requests[1]?.body).toMatchObject({ input: expect.arrayContaining([parts]) });
  });
});
