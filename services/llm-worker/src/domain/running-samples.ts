// running-samples.ts: stops the model calls of a turn at once when the news of its end arrives before Temporal's own cancel.
// A hint is only a hint: the step is opened again afterwards, and the store says whether the turn is sealed.
import type { SampleRequest } from '@holdfast/agent-loop';
import type { CancelHint } from '@holdfast/events';
import type { StepReply } from '@holdfast/protocol';
import type { AttemptStreamer, SampleAttempt } from './ports.ts';

export type RunningSamples = {
  /** Like the streamer's own `sample`, but stoppable by a hint; resolves to `sealed` then. */
  run(request: SampleRequest, signal: AbortSignal, attempt: SampleAttempt): Promise<StepReply>;
  /** Stops everything that runs for this turn here; nothing when nothing does. */
  cancel(hint: CancelHint): void;
};

export function createRunningSamples(streamer: AttemptStreamer): RunningSamples {
  const running = new Map<string, Set<AbortController>>();
  return {
    async run(request, signal, attempt) {
      for (;;) {
        const stop = enter(running, request);
        const follow = () => stop.controller.abort(signal.reason);
        signal.addEventListener('abort', follow, { once: true });
        if (signal.aborted) follow();
        try {
          return await streamer.sample(request, stop.controller.signal, attempt);
        } catch (error) {
          if (signal.aborted || !stop.controller.signal.aborted) throw error;
        } finally {
          signal.removeEventListener('abort', follow);
          stop.leave();
        }
      }
    },
    cancel(hint) {
      for (const controller of running.get(toKey(hint)) ?? []) controller.abort();
    },
  };
}

function toKey({ sessionId, turnId }: CancelHint): string {
  return `${sessionId} ${turnId}`;
}

function enter(running: Map<string, Set<AbortController>>, request: SampleRequest) {
  const key = toKey(request);
  const controller = new AbortController();
  const group = running.get(key) ?? new Set();
  running.set(key, group.add(controller));
  const leave = () => {
    group.delete(controller);
    if (group.size === 0 && running.get(key) === group) running.delete(key);
  };
  return { controller, leave };
}
