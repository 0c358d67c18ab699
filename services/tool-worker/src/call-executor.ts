// call-executor.ts: the door to the calls of this machine, for Temporal activities, for the in-process engine and for the restart.
// E1  A call runs at most once at a time in this process; a second dispatch joins the running one.
// E2  A dispatch that was merely superseded leaves the call running: its successor joins.
// E3  An announced call starts ahead of its dispatch, which then joins it. The claim decides all the same, so an announcement may be
//     lost, repeated or wrong.
// E4  After a restart every call that the journal still has is taken up again, whether or not it is dispatched again.
import type { CallResult } from '@holdfast/protocol';
import { AnnouncedCalls } from './announced-calls.ts';
import type { CallOrigin } from './journal.ts';
import { claimCall, runCall, toCallKey, type CallDeps, type CallRequest } from './run-call.ts';
import { RunningCalls, stop, type RunningCall } from './running-calls.ts';
import type { CallStop } from './tool.ts';

/** The reason of a dispatch's abort signal; any other reason counts as `cancelled`. */
export type DispatchStop = CallStop | 'superseded';

export type Dispatch = CallRequest & { origin?: CallOrigin };

export type CallExecutorOptions = Omit<CallDeps, 'running'> & {
  /** How long an announced call runs without a dispatch before the store is asked whether it is still wanted; milliseconds. */
  dispatchPatienceMs?: number;
};

/** A dispatch follows its announcement within a tenth of this, unless the turn or the workflow has gone. */
const defaultDispatchPatienceMs = 5_000;

export type CallExecutor = {
  /**
   * Runs the call, or joins it, or reports what became of it.
   * @throws Failure or Error when this worker or the store failed; the call may then be dispatched again
   */
  run(request: Dispatch, signal: AbortSignal): Promise<CallResult>;
  /** Starts calls whose dispatch is on its way. Returns at once; never throws. */
  anticipate(announced: { sessionId: string; callIds: readonly string[] }): void;
  /** The turn has ended in the store: its calls are stopped. */
  stopTurn(turn: { sessionId: string; turnId: string }): void;
  /** Takes up what an earlier process left unfinished. Returns at once; the work goes on in the background. */
  recover(): void;
  /** Takes no new calls; running ones go on. */
  refuse(): void;
  /** Refuses new calls, stops the running ones and waits for them, but no longer than the limit. */
  close(options: { limitMs: number }): Promise<void>;
};

export function createCallExecutor({
  dispatchPatienceMs = defaultDispatchPatienceMs,
  ...options
}: CallExecutorOptions): CallExecutor {
  const running = new RunningCalls<CallResult>();
  const deps: CallDeps = { ...options, running };
  const announced = new AnnouncedCalls<CallResult>({ patienceMs: dispatchPatienceMs });
  const state = { closing: false };
  const start = (key: string, { sessionId, callId }: Dispatch, origin?: CallOrigin) =>
    running.start(key, { sessionId, ...(origin ? { origin } : {}) }, (started) =>
      runCall(deps, { sessionId, callId }, started),
    );
  const join = (key: string, request: Dispatch): RunningCall<CallResult> => {
    const call = announced.take(key) ?? running.get(key);
    if (!call) return start(key, request, request.origin); // E1
    if (request.origin) {
      call.origin = request.origin;
      deps.journal.noteOrigin(key, request.origin);
    }
    return call;
  };
  const run = async (request: Dispatch, signal: AbortSignal): Promise<CallResult> => {
    if (state.closing) throw new Error('this tool worker is stopping');
    signal.throwIfAborted();
    return follow(deps, request, { call: join(toCallKey(request), request), signal });
  };
  return {
    run,
    anticipate: ({ sessionId, callIds }) => {
      for (const callId of callIds) {
        const request = { sessionId, callId };
        const key = toCallKey(request);
        if (state.closing || running.get(key) || announced.has(key)) continue;
        announced.add(key, start(key, request), (call) => stopIfUnwanted(deps, request, call)); // E3
      }
    },
    stopTurn: (turn) => running.stopTurn(turn),
    recover: () => {
      const never = new AbortController().signal;
      for (const { key, sessionId, callId, origin } of deps.journal.list()) {
        run({ sessionId, callId, ...(origin ? { origin } : {}) }, never).catch((error: unknown) =>
          deps.logger.warn({ err: error, key }, 'call not taken up again'),
        );
      }
    },
    refuse: () => {
      state.closing = true;
    },
    close: async ({ limitMs }) => {
      state.closing = true;
      const { promise: limit, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, limitMs);
      await Promise.race([running.stopAll('shutdown'), limit]);
      clearTimeout(timer);
    },
  };
}

/** Waits for the call as long as this dispatch counts. */
async function follow(
  deps: CallDeps,
  request: CallRequest,
  { call, signal }: { call: RunningCall<CallResult>; signal: AbortSignal },
): Promise<CallResult> {
  const { promise: left, reject } = Promise.withResolvers<never>();
  const onAbort = () => {
    const reason = signal.reason as DispatchStop;
    if (reason !== 'superseded') return stop(call, reason === 'shutdown' ? 'shutdown' : 'cancelled');
    reject(new Error('a newer dispatch of this call follows it'));
    void stopIfUnwanted(deps, request, call); // E2
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([call.result, left]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** A dispatch also ends this way when its whole workflow has gone; the store knows whether the turn still wants the call. */
async function stopIfUnwanted(
  deps: CallDeps,
  request: CallRequest,
  call: RunningCall<CallResult>,
): Promise<void> {
  if (call.turnId === undefined) return;
  try {
    const claim = await claimCall(deps, request);
    if (claim.kind === 'run' || claim.kind === 'resolve') call.fence = Math.max(call.fence, claim.fence);
    else if (claim.kind === 'sealed') stop(call, 'cancelled');
  } catch (error) {
    deps.logger.warn(
      { err: error, key: toCallKey(request) },
      'could not ask whether the call is still wanted',
    );
  }
}
