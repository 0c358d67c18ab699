// run-call.ts: one dispatched call, from the claim to the recorded output.
// D1  Only a claim of kind `run` starts a call; a claim of kind `resolve` starts it again only when the tool just reads.
// D2  A result that this process holds is committed, also under the fence of a later claim: what happened is known, so it is said.
// D3  A call that the server had when it was lost, or when its time was up, is `unknown` unless the tool just reads.
// D4  Progress is appended in order, all of it before the output.
import { Failure } from '@holdfast/failures';
import type {
  CallDetail,
  CallOutput,
  CallRef,
  CallResult,
  Claim,
  SessionId,
  TurnId,
} from '@holdfast/protocol';
import { executeCall, toUnknownOutput, type ExecuteTools } from './execute-call.ts';
import { RunningCall } from './running-call.ts';
import { isRepeatable } from './tool-caller.ts';

export type GatewayRunnerOptions = ExecuteTools & { machineId: string; bootId: string };

export type GatewayRunner = {
  /**
   * Runs a call as far as it goes; fits `CallRunner` of the agent loop.
   * @throws Failure of the store, and `signal.reason` after an abort; every failure of a tool is a recorded output
   */
  run(
    request: { sessionId: SessionId; call: Pick<CallRef, 'callId'> },
    signal: AbortSignal,
  ): Promise<CallResult>;
  /** Stops what runs for a turn that was ended. */
  endTurn(turn: { sessionId: SessionId; turnId: TurnId }): void;
};

type Started = Extract<Claim, { kind: 'run' | 'resolve' }>;
type Place = { sessionId: SessionId; callId: string };

/** How often a result is committed under a newer fence before that is left to the next dispatch. */
const commitLimit = 3;
/** Results that could not be committed and wait for the next dispatch (D2). */
const heldLimit = 256;
const questionLimit = 300;

export function createGatewayRunner(options: GatewayRunnerOptions): GatewayRunner {
  const { store, machineId, bootId } = options;
  const running = new Map<string, RunningCall>();
  const commit = createCommit(options, running);
  const start = (claim: Started) => {
    const { call } = claim;
    const entry = new RunningCall({
      turnId: call.turnId,
      fence: claim.fence,
      run: (self, signal) => executeCall({ ...options, call, fence: () => self.fence, signal }),
    });
    keep(running, toKey(call), entry);
    return entry;
  };
  return {
    run: async ({ sessionId, call: { callId } }, signal) => {
      const claim = await store.claimCall({ sessionId, callId, machineId, bootId });
      if (claim.kind !== 'run' && claim.kind !== 'resolve') return claim;
      if (claim.kind === 'run') {
        const asked = await askFirst(options, claim);
        return asked ?? commit(claim.call, start(claim), signal);
      }
      const entry = running.get(toKey(claim.call));
      if (entry) {
        entry.fence = claim.fence;
        return commit(claim.call, entry, signal);
      }
      const found = options.tools.find(claim.call.tool);
      if (found.kind === 'tool' && isRepeatable(found.spec.effects))
        return commit(claim.call, start(claim), signal);
      return commitUnknown(options, claim);
    },
    endTurn: ({ sessionId, turnId }) => {
      for (const [key, entry] of running) {
        if (entry.turnId === turnId && key.startsWith(`${sessionId}/`)) entry.endTurn();
      }
    },
  };
}

/** Asks a person when the session wants that and nobody was asked yet. */
async function askFirst(
  options: GatewayRunnerOptions,
  claim: Started & { kind: 'run' },
): Promise<CallResult | undefined> {
  const { call, fence } = claim;
  if (call.context.approvalPolicy === 'never' || claim.approval === 'accepted') return undefined;
  const found = options.tools.find(call.tool);
  if (found.kind !== 'tool' || isRepeatable(found.spec.effects)) return undefined;
  const question = `Call ${call.tool} with ${call.input.replaceAll(/\s+/g, ' ')}?`;
  const bounded =
    question.length <= questionLimit ? question : `${question.slice(0, questionLimit).toWellFormed()}…?`;
  const { sessionId, callId } = call;
  const { approvalId } = await options.store.askApproval({ sessionId, callId, fence, question: bounded });
  return { kind: 'awaiting-approval', approvalId };
}

function createCommit(options: GatewayRunnerOptions, running: Map<string, RunningCall>) {
  return async (call: CallDetail, entry: RunningCall, signal: AbortSignal): Promise<CallResult> => {
    const key = toKey(call);
    const end = await entry.wait(signal).catch((error: unknown) => {
      if (entry.idle && running.get(key) === entry) running.delete(key);
      throw error;
    });
    if (end.kind === 'turn-ended') {
      running.delete(key);
      return { kind: 'sealed' };
    }
    const result = await commitOutput(options, call, { output: end.output, holder: entry });
    if (running.get(key) === entry) running.delete(key);
    return result;
  };
}

async function commitUnknown(
  options: GatewayRunnerOptions,
  claim: Started & { kind: 'resolve' },
): Promise<CallResult> {
  const { call, fence, previous } = claim;
  const evidence = `${call.tool} was given to the MCP gateway process ${previous.bootId}, which was lost before it reported a result.`;
  return commitOutput(options, call, { output: toUnknownOutput(evidence, 0), holder: { fence } });
}

/** Commits under the newest fence (D2). @throws Failure store.stale-fence when others keep claiming the call */
async function commitOutput(
  options: GatewayRunnerOptions,
  place: Place,
  result: { output: CallOutput; holder: { fence: number } },
): Promise<CallResult> {
  const { sessionId, callId } = place;
  const { output, holder } = result;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const finished = await options.store.finishCall({ sessionId, callId, fence: holder.fence, output });
      return { kind: 'finished', ...finished };
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'store.stale-fence' || attempt === commitLimit)
        throw error;
    }
    const { machineId, bootId } = options;
    const claim = await options.store.claimCall({ sessionId, callId, machineId, bootId });
    if (claim.kind !== 'run' && claim.kind !== 'resolve') return claim;
    holder.fence = claim.fence;
  }
}

function keep(running: Map<string, RunningCall>, key: string, entry: RunningCall): void {
  running.set(key, entry);
  for (const [oldest, { idle }] of running) {
    if (running.size <= heldLimit) return;
    if (idle) running.delete(oldest);
  }
}

function toKey({ sessionId, callId }: Place): string {
  return `${sessionId}/${callId}`;
}
