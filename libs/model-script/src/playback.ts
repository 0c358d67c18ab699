// playback.ts: sends the events of a reply at its pace, up to the end that its failure gives it.
// P1  A reply without delays, gates and failures leaves in one write.
// P2  Waiting ends when the client leaves or the server closes: the signal aborts and playReply rejects with its reason.
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Gates } from './gates.ts';
import type { RecordedRequest } from './request-log.ts';
import { toFrameCount, type Frame, type ResponsePlan } from './response-events.ts';
import type { Reply, ScriptedFailure } from './script.ts';

export type StreamFailure = Exclude<ScriptedFailure, { status: number }>;

export type Playback = {
  response: ServerResponse;
  /** Gets `status`, the byte times and the outcome. */
  record: RecordedRequest;
  plan: ResponsePlan;
  reply: Reply;
  failure: StreamFailure | undefined;
  gates: Gates;
  signal: AbortSignal;
};

type Ending = 'completed' | 'failed' | 'cut' | 'reset' | 'idle';

/** Sends head and events. Resolves when everything that will be sent has been handed to the socket. */
export async function playReply(playback: Playback): Promise<void> {
  const { response, record, reply, signal } = playback;
  const { frames, ending } = toPlayed(playback.plan, playback.failure);
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
  let pending = '';
  let deltas = 0;
  let isGatePassed = reply.midGate === undefined;
  const flush = () => {
    response.write(pending);
    record.firstByteAt ??= performance.now();
    pending = '';
  };
  record.status = 200;
  response.writeHead(200, headers);
  for (const [index, frame] of frames.entries()) {
    if (!isGatePassed && reply.midGate !== undefined && (deltas > 0 || index === frames.length - 1)) {
      flush();
      await playback.gates.hold(reply.midGate, signal);
      isGatePassed = true;
    }
    if (frame.isDelta) {
      if (deltas > 0 && reply.chunk?.delayMs) {
        flush();
        await sleep(reply.chunk.delayMs, undefined, { signal });
      }
      deltas += 1;
    }
    pending += frame.text;
  }
  await endResponse(playback, pending, ending);
}

function toPlayed(
  plan: ResponsePlan,
  failure: StreamFailure | undefined,
): { frames: Frame[]; ending: Ending } {
  const { frames } = plan;
  if (!failure) return { frames: [...frames, plan.completed], ending: 'completed' };
  if ('error' in failure) {
    const { code, message, afterChunks } = failure.error;
    // Without a place to fail, only response.created and response.in_progress come first.
    const sent = afterChunks === undefined ? 2 : toFrameCount(frames, afterChunks);
    return { frames: [...frames.slice(0, sent), plan.toFailed({ code, message }, sent)], ending: 'failed' };
  }
  const chunks = 'cut' in failure ? failure.cut.afterChunks : failure.idle.afterChunks;
  const ending = 'idle' in failure ? 'idle' : failure.cut.clean ? 'cut' : 'reset';
  return { frames: frames.slice(0, toFrameCount(frames, chunks)), ending };
}

async function endResponse(
  { response, record, signal }: Playback,
  text: string,
  ending: Ending,
): Promise<void> {
  if (ending === 'idle') {
    response.write(text);
    record.firstByteAt ??= performance.now();
    return untilAborted(signal);
  }
  if (ending === 'reset') {
    // The socket goes only after the kernel has the bytes, so the client sees exactly the chunks asked for.
    await new Promise<void>((resolve) => response.write(text, () => resolve()));
    response.destroy();
  } else {
    response.end(text);
  }
  record.lastByteAt = performance.now();
  record.firstByteAt ??= record.lastByteAt;
  record.outcome = ending === 'reset' ? 'cut' : ending;
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
