// session-calls.ts: one call of a tool that runs with the session, as far as it goes at this moment.
// S1  All that a tool does is in the transaction that ends its call. So a call that may have been begun before is simply begun again.
// S2  Questions and waiting times are in the store before anybody waits for them; a repeat finds the same ones.
// S3  An attempt that was overtaken looks again instead of failing: the newest claim decides.
import type { CallLog, GoalLog } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import {
  toApprovalId,
  type Answers,
  type CallDetail,
  type SessionCallResult,
  type SessionId,
} from '@holdfast/protocol';
import { registry } from './registry.ts';
import { toFailed, type Step } from './session-tool.ts';

type SessionCallStore = Pick<
  CallLog,
  'claimCall' | 'askApproval' | 'readApproval' | 'parkCall' | 'finishCall'
> &
  Pick<GoalLog, 'readGoal'>;

export type SessionCallRunnerOptions = {
  store: SessionCallStore;
  /** False where no person can answer: questions are refused, and the model reads that. Default: true. */
  answerable?: boolean;
  /** Milliseconds since 1970. */
  now?: () => number;
};

/** `woken`: new input ends a wait for a time. */
export type SessionCallRequest = { sessionId: SessionId; callId: string; woken?: boolean };

export type SessionCallRunner = {
  /** Idempotent: a repeat goes on from what the store holds. @throws Failure store.unavailable, session.unknown, call.unknown */
  run(request: SessionCallRequest): Promise<SessionCallResult>;
};

/** Who claims these calls; every process that runs them is as good as the other. */
const holder = { machineId: 'session', bootId: 'session' };
/** Each round means that another attempt claimed the call in between. */
const maxRounds = 5;

export function createSessionCallRunner(options: SessionCallRunnerOptions): SessionCallRunner {
  const attempt = (request: SessionCallRequest) => runClaimed(options, request);
  return {
    run: async (request) => {
      for (let round = 1; ; round += 1) {
        try {
          return await attempt(request);
        } catch (error) {
          const isStale = error instanceof Failure && error.code === 'store.stale-fence';
          if (!isStale || round === maxRounds) throw error; // S3
        }
      }
    },
  };
}

async function runClaimed(
  options: SessionCallRunnerOptions,
  request: SessionCallRequest,
): Promise<SessionCallResult> {
  const { sessionId, callId } = request;
  const claim = await options.store.claimCall({ sessionId, callId, ...holder });
  if (claim.kind !== 'run' && claim.kind !== 'resolve') return claim;
  const now = (options.now ?? Date.now)();
  const step = await decide(options, claim.call, now);
  const place = { sessionId, callId, fence: claim.fence };
  switch (step.kind) {
    case 'finished':
      return finish(options.store, place, step);
    case 'ask': {
      const { question, questions } = step;
      const { approvalId } = await options.store.askApproval({ ...place, question, questions });
      return { kind: 'awaiting-approval', approvalId };
    }
    case 'sleep':
      return sleep(options.store, place, { untilMs: step.untilMs, now, woken: request.woken === true });
  }
}

function decide(options: SessionCallRunnerOptions, call: CallDetail, now: number): Promise<Step> | Step {
  const { store, answerable = true } = options;
  const { sessionId, callId, tool } = call;
  const known = registry.get(tool);
  if (!known) return toFailed(`unsupported call: ${tool}`);
  return known
    .decide({
      call,
      now,
      readGoal: async () => (await store.readGoal({ sessionId })).goal,
      readAnswers: () => readAnswers(store, { sessionId, approvalId: toApprovalId(callId) }),
    })
    .then((step) => (step.kind === 'ask' && !answerable ? toFailed(nobodyAnswers) : step));
}

const nobodyAnswers =
  'Nobody can answer questions in this session; go on with what is most likely wanted, and say what you assumed.';

async function readAnswers(
  store: SessionCallStore,
  place: { sessionId: SessionId; approvalId: string },
): Promise<Answers | undefined> {
  try {
    return (await store.readApproval(place)).answers;
  } catch (error) {
    if (error instanceof Failure && error.code === 'approval.unknown') return undefined;
    throw error;
  }
}

type Place = { sessionId: SessionId; callId: string; fence: number };

async function sleep(
  store: SessionCallStore,
  place: Place,
  wait: { untilMs: number; now: number; woken: boolean },
): Promise<SessionCallResult> {
  const detail = `sleeping until ${new Date(wait.untilMs).toISOString()}`;
  const { untilMs, sinceMs } = await store.parkCall({ ...place, untilMs: wait.untilMs, detail }); // S2
  const isOver = wait.now >= untilMs;
  if (!isOver && !wait.woken) return { kind: 'sleeping', untilMs };
  const durationMs = Math.max(0, wait.now - sinceMs);
  const slept = `Slept for ${(durationMs / 1000).toFixed(1)} seconds`;
  const text = isOver ? `${slept}.` : `${slept}, until new input came; it follows.`;
  return finish(store, place, { kind: 'finished', status: 'ok', text, durationMs });
}

async function finish(
  store: SessionCallStore,
  place: Place,
  { status, text, durationMs = 0, effect }: Step & { kind: 'finished' },
): Promise<SessionCallResult> {
  const output = { status, text, tokens: Math.ceil(text.length / 4), durationMs };
  const finished = await store.finishCall({ ...place, output, ...(effect ? { effect } : {}) }); // S1
  return { kind: 'finished', ...finished };
}
