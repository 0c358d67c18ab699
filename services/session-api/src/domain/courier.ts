// courier.ts: gets messages to the engine when the engine cannot be reached at once.
// K1  A message is repeated until it is taken, for a bounded time; what is lost with this process is found again by redelivery.ts.
// K2  A message whose key is on its way already is not sent twice at the same time.
import type { Logger } from '@holdfast/telemetry';

type Message = {
  /** Equal for equal messages. */
  key: string;
  /** Idempotent. Rejects when the message was not taken. */
  send(signal: AbortSignal): Promise<void>;
};

export type Courier = {
  /** Tries once and says whether the message was taken; if not, it is repeated in the background. Never throws. */
  deliver(message: Message): Promise<boolean>;
  /** Delivers in the background. */
  send(message: Message): void;
  /** Gives up what is on its way. */
  stop(): Promise<void>;
};

export type CourierLimits = {
  /** How long a person waits for an answer. */
  answerMs: number;
  /** The first attempt in the background may take this long, later ones too. */
  attemptMs: number;
  firstPauseMs: number;
  longestPauseMs: number;
  /** How long a message is repeated. */
  patienceMs: number;
  /** Messages on their way at a time; more are left to redelivery. */
  count: number;
};

export const courierLimits: CourierLimits = {
  answerMs: 3_000,
  attemptMs: 10_000,
  firstPauseMs: 250,
  longestPauseMs: 5_000,
  patienceMs: 600_000,
  count: 1_000,
};

export function createCourier(options: { logger: Logger; limits?: CourierLimits }): Courier {
  const { logger, limits = courierLimits } = options;
  const stopping = new AbortController();
  const underway = new Map<string, Promise<void>>();
  const attempt = async (message: Message, limitMs: number): Promise<boolean> => {
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(limitMs)]);
    try {
      await Promise.race([message.send(signal), rejectOnAbort(signal)]);
      return true;
    } catch (error) {
      if (!stopping.signal.aborted)
        logger.warn({ err: error, message: message.key }, 'message not taken yet');
      return false;
    }
  };
  const repeat = async (message: Message): Promise<void> => {
    const deadline = Date.now() + limits.patienceMs;
    let pause = limits.firstPauseMs;
    while (!stopping.signal.aborted && !(await attempt(message, limits.attemptMs))) {
      if (Date.now() + pause > deadline) return;
      await pauseFor(pause, stopping.signal);
      pause = Math.min(pause * 2, limits.longestPauseMs);
    }
  };
  const send = (message: Message) => {
    if (stopping.signal.aborted || underway.has(message.key) || underway.size >= limits.count) return;
    const done = repeat(message).finally(() => underway.delete(message.key));
    underway.set(message.key, done);
  };
  return {
    send,
    deliver: async (message) => {
      const taken = await attempt(message, limits.answerMs);
      if (!taken) send(message);
      return taken;
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(underway.values());
    },
  };
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason as Error);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return promise;
}

/** Resolves after `ms`, or at once when the signal aborts. */
export function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stop = () => resolve();
  signal.addEventListener('abort', stop, { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  });
}
