// event-viewer.ts: one SSE connection.
// V1  A viewer that does not read costs bounded memory: pieces of live output are left out first, then the connection is ended;
//     the viewer comes back with the id of the last event it got.
import type { ServerResponse } from 'node:http';
import type { Delta, SessionEvent } from '@holdfast/protocol';
import type { FeedViewer } from './domain/event-feed.ts';

export type ViewerLimits = {
  /** Unread bytes above which deltas are left out. */
  deltaBytes: number;
  /** Unread bytes above which the connection is ended. */
  endBytes: number;
  /** A connection without anything to say says so this often, in milliseconds, so that both ends know that it lives. */
  heartbeatMs: number;
};

const viewerLimits: ViewerLimits = { deltaBytes: 1_048_576, endBytes: 8_388_608, heartbeatMs: 15_000 };

export type EventViewer = FeedViewer & {
  /** Writes a comment when nothing was written for the heartbeat time. */
  keepAlive(): void;
};

/** Answers with the head of an event stream at once. `response` must not be written to by anybody else. */
export function openEventViewer(response: ServerResponse, limits: ViewerLimits = viewerLimits): EventViewer {
  let writtenAt = performance.now();
  response.on('error', () => response.destroy());
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  response.flushHeaders();
  const write = (frame: string) => {
    if (response.destroyed) return;
    if (response.writableLength > limits.endBytes) {
      response.destroy(); // V1
      return;
    }
    writtenAt = performance.now();
    response.write(frame);
  };
  return {
    sendEvent: (event) => {
      write(toEventFrame(event));
      return response.writableNeedDrain && !response.destroyed ? waitForDrain(response) : undefined;
    },
    sendDelta: (delta) => {
      if (response.writableLength <= limits.deltaBytes) write(toDeltaFrame(delta)); // V1
    },
    keepAlive: () => {
      if (performance.now() - writtenAt >= limits.heartbeatMs) write(': alive\n\n');
    },
  };
}

function toEventFrame(event: SessionEvent): string {
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Without an id: what may be lost must not move the cursor. */
function toDeltaFrame(delta: Delta): string {
  return `event: ${delta.kind}_delta\ndata: ${JSON.stringify(delta)}\n\n`;
}

function waitForDrain(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = () => {
    response.off('drain', done).off('close', done);
    resolve();
  };
  response.once('drain', done).once('close', done);
  return promise;
}
