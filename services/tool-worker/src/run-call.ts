// run-call.ts: one call on this machine: claim → look or run → finish.
// C1  A call is run only under a claim, and only when neither the journal nor another machine says that it may have started.
// C2  The journal has the call before anything with an effect happens.
// C3  A call that may have started is resolved by its tool: its outcome is found out or reported as unknown, never guessed.
// C4  A refused commit asks for the truth by claiming again; it never leads to running again.
// C5  The state of the workspace before it is noted before a call that may change files.
// C6  What is kept of a call goes only when the store has the outcome, or has ended the turn.
import type { CallLog } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import type { CallDetail, CallOutput, CallResult, Claim, Effects } from '@holdfast/protocol';
import type { Logger } from '@holdfast/telemetry';
import { toConflictOutput, toShortOutput, toUnknownOutput } from './call-outputs.ts';
import type { Journal } from './journal.ts';
import { toPieces, type DeltaPublisher } from './live-output.ts';
import type { RunningCall, RunningCalls } from './running-calls.ts';
import type { Tool, ToolRun } from './tool.ts';
import type { WorkspaceGuard } from './workspace/workspace-guard.ts';

export type CallDeps = {
  machineId: string;
  bootId: string;
  /** Changes when the operating system was restarted. */
  kernelBoot: string;
  store: Pick<CallLog, 'claimCall' | 'askApproval' | 'finishCall'>;
  journal: Journal;
  tools: ReadonlyMap<string, Tool>;
  publishDelta: DeltaPublisher;
  logger: Logger;
  running: RunningCalls<CallResult>;
  workspace: Pick<WorkspaceGuard, 'begin' | 'end' | 'noteRead'>;
};

export type CallRequest = { sessionId: string; callId: string };

type Granted = Extract<Claim, { kind: 'run' | 'resolve' }>;
type Context = { deps: CallDeps; request: CallRequest; running: RunningCall<CallResult> };
type Outcome = { kind: 'output'; output: CallOutput } | { kind: 'ask'; question: string };

/** How often a refused write asks for the truth before the dispatch is given up. */
const writeAttempts = 5;

export function toCallKey(request: { sessionId: string; callId: string }): string {
  return `${request.sessionId}/${request.callId}`;
}

/** @throws Failure or Error when this worker or the store failed; the call may then be dispatched again */
export async function runCall(
  deps: CallDeps,
  request: CallRequest,
  running: RunningCall<CallResult>,
): Promise<CallResult> {
  const context = { deps, request, running };
  const claim = await claimCall(deps, request);
  if (!isGranted(claim)) return conclude(context, claim);
  running.fence = claim.fence;
  deps.running.setTurn(running, claim.call.turnId);
  const outcome = await toOutcome(context, claim);
  if (outcome.kind === 'output') return commit(context, outcome.output);
  const asked = await ask(context, outcome.question);
  // An earlier claim may have died with an answer in its hands; claiming again brings it back.
  return claim.kind === 'resolve' && asked.kind === 'awaiting-approval'
    ? runCall(deps, request, running)
    : asked;
}

/** Asks the store who may run the call. */
export function claimCall(deps: CallDeps, { sessionId, callId }: CallRequest): Promise<Claim> {
  return deps.store.claimCall({ sessionId, callId, machineId: deps.machineId, bootId: deps.bootId });
}

async function toOutcome(context: Context, claim: Granted): Promise<Outcome> {
  const { deps, request, running } = context;
  const { call } = claim;
  if (claim.kind === 'resolve' && claim.previous.machineId !== deps.machineId) {
    return toResult(toUnknownOutput('It had been given to another machine, which has not reported back.')); // C1
  }
  const tool = deps.tools.get(call.tool);
  if (!tool) return toResult(toShortOutput('failed', `unsupported call: ${call.tool}`));
  const run = toToolRun(context, call);
  const row = deps.journal.read(run.key);
  if (row?.output) return toResult(row.output);
  if (row) {
    const sameKernelBoot = row.kernelBoot === deps.kernelBoot;
    const found = await tool.resolve(run, { evidence: row.evidence, sameKernelBoot }); // C3
    if (found !== 'not-started') {
      if (changesFiles(tool.spec.effects)) deps.workspace.end({ call });
      return toResult(found);
    }
  }
  const prepared = await tool.prepare(call);
  if (prepared.kind === 'refused') return toResult(prepared.output);
  const approved = row !== undefined || (claim.kind === 'run' && claim.approval === 'accepted');
  const { effects = tool.spec.effects } = prepared;
  if (!approved && needsApproval(effects, call)) return { kind: 'ask', question: prepared.question };
  if (run.signal.aborted) return toResult(toShortOutput('aborted', 'aborted by user before it was started'));
  const guarded = { call, ...(prepared.files ? { files: prepared.files } : {}) };
  const conflicts = changesFiles(effects) ? await deps.workspace.begin(guarded) : []; // C5
  if (conflicts.length > 0) {
    deps.workspace.end({ call });
    return toResult(toConflictOutput(call, conflicts));
  }
  if (prepared.reads !== undefined) deps.workspace.noteRead(call, prepared.reads);
  deps.journal.begin({
    ...request,
    ...(running.origin ? { origin: running.origin } : {}),
    key: run.key,
    tool: call.tool,
    fence: running.fence,
    bootId: deps.bootId,
    kernelBoot: deps.kernelBoot,
    evidence: prepared.evidence,
  }); // C2
  try {
    return toResult(await prepared.run(run));
  } finally {
    if (changesFiles(effects)) deps.workspace.end(guarded);
  }
}

function toToolRun({ deps, request, running }: Context, call: CallDetail): ToolRun {
  const { sessionId, turnId, callId } = call;
  const emit = (text: string) => {
    for (const piece of toPieces(text)) {
      deps.publishDelta({ kind: 'output', sessionId, turnId, callId, attempt: running.fence, text: piece });
    }
  };
  return { call, key: toCallKey(request), signal: running.stop.signal, emit };
}

function needsApproval(effects: Effects, call: CallDetail): boolean {
  return call.context.approvalPolicy === 'always' && changesFiles(effects);
}

function changesFiles(effects: Effects): boolean {
  return effects === 'write' || effects === 'execute';
}

async function ask(context: Context, question: string): Promise<CallResult> {
  const { sessionId, callId } = context.request;
  return write(context, async (fence) => {
    const { approvalId } = await context.deps.store.askApproval({ sessionId, callId, fence, question });
    return { kind: 'awaiting-approval', approvalId };
  });
}

async function commit(context: Context, output: CallOutput): Promise<CallResult> {
  const { deps, request, running } = context;
  const { sessionId, callId } = request;
  const settle = () => deps.journal.settle(toCallKey(request), output);
  if (running.stop.signal.aborted) settle();
  const finish = async (fence: number): Promise<CallResult> => {
    const finished = await deps.store.finishCall({ sessionId, callId, fence, output });
    return conclude(context, { kind: 'finished', ...finished });
  };
  try {
    // Whoever aborted the call has most likely ended the turn; then there is nothing to write.
    return await write(context, finish, { askFirst: output.status === 'aborted' });
  } catch (error) {
    settle();
    throw error;
  }
}

/** Writes under the newest fence; a refused write learns the truth by claiming again (C4). */
async function write(
  context: Context,
  send: (fence: number) => Promise<CallResult>,
  options: { askFirst: boolean } = { askFirst: false },
): Promise<CallResult> {
  let refused = options.askFirst;
  for (let attempt = 0; attempt < writeAttempts; attempt += 1) {
    if (refused) {
      const claim = await claimCall(context.deps, context.request);
      if (!isGranted(claim)) return conclude(context, claim);
      context.running.fence = claim.fence;
    }
    try {
      return await send(context.running.fence);
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'store.stale-fence') throw error;
      refused = true;
    }
  }
  throw new Error('other attempts at this call take over again and again');
}

function conclude({ deps, request }: Context, claim: Exclude<Claim, Granted>): CallResult {
  if (claim.kind !== 'awaiting-approval')
    release(deps, toCallKey(request), { sealed: claim.kind === 'sealed' }); // C6
  return claim;
}

/** In the background: the outcome is safe already. A row that stays behind is looked at again at the next start. */
function release(deps: CallDeps, key: string, end: { sealed: boolean }): void {
  const row = deps.journal.read(key);
  if (!row) return;
  const discarded = deps.tools.get(row.tool)?.discard?.(key, end) ?? Promise.resolve();
  discarded.then(
    () => deps.journal.remove(key),
    (error: unknown) => deps.logger.warn({ err: error, key }, 'a finished call could not be tidied up'),
  );
}

function isGranted(claim: Claim): claim is Granted {
  return claim.kind === 'run' || claim.kind === 'resolve';
}

function toResult(output: CallOutput): Outcome {
  return { kind: 'output', output };
}
