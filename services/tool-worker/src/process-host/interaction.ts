// interaction.ts: one call that types into a background terminal, or waits for it, over one connection to its host.
import { hostGone, type HostConnection } from './connection.ts';
import type { Reading, TerminalAddress } from './protocol.ts';

export type InteractionRequest = TerminalAddress & { call: string; input: string };

export type InteractionWait = {
  /** The call reads when this time has passed, or when the process ends. */
  limitMs: number;
  /** Ends the wait without a reading. */
  signal: AbortSignal;
  onOutput: (text: string) => void;
};

export type InteractionOutcome =
  | { kind: 'no-terminal' }
  | { kind: 'no-input' }
  | { kind: 'read'; reading: Reading }
  | { kind: 'stopped' };

/** @throws Error when the host refuses, or is gone */
export async function interactOver(
  connection: HostConnection,
  request: InteractionRequest,
  wait: InteractionWait,
): Promise<InteractionOutcome> {
  const { owner, number, call } = request;
  const over = Promise.withResolvers<void>();
  over.promise.catch(() => undefined);
  const end = () => over.resolve();
  let endWatch = () => undefined as void;
  const timer = setTimeout(end, wait.limitMs);
  wait.signal.addEventListener('abort', end, { once: true });
  try {
    const answer = await connection.ask({ op: 'interact', ...request }, (given) => {
      if (given.kind !== 'attached') return;
      // The end of the process may stand right behind the answer.
      endWatch = connection.watch(given.key, {
        onOutput: wait.onOutput,
        onExit: end,
        onLost: () => over.reject(new Error(hostGone)),
      });
    });
    if (answer.kind !== 'attached') return answer;
    if (answer.state.state === 'running' && !wait.signal.aborted) await over.promise;
    if (wait.signal.aborted) return { kind: 'stopped' };
    const reading = await connection.ask({ op: 'read', call, owner, number });
    return reading ? { kind: 'read', reading } : { kind: 'no-terminal' };
  } finally {
    clearTimeout(timer);
    endWatch();
    wait.signal.removeEventListener('abort', end);
  }
}
