import type { IncomingMessage } from 'node:http';
// refused-body.ts: the rest of a body that is too large. A client that still sends when its connection is closed sees a broken
// connection instead of the answer, so the rest is read and thrown away first, within limits.
import { finished } from 'node:stream';

/** What a client that means no harm sends by mistake, and how long that takes it. */
const limits = { bytes: 256 * 1_048_576, ms: 10_000 };

/** Resolves when the body has ended, is larger or slower than the limits, or its connection is gone. */
export async function drainBody(request: IncomingMessage): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limits.ms);
  let read = 0;
  const count = (chunk: Buffer) => {
    read += chunk.length;
    if (read > limits.bytes) resolve();
  };
  const forget = finished(request, { writable: false }, () => resolve());
  request.on('data', count).resume();
  await promise;
  clearTimeout(timer);
  forget();
  request.off('data', count);
}
