// strict-call-log.ts: the store's promises about calls, in memory and without mercy: what the contract does not allow is thrown.
import { createHash } from 'node:crypto';
import type { BlobStore, CallLog } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import {
  toApprovalId,
  type ApprovalPolicy,
  type CallDetail,
  type CallOutput,
  type Claim,
  type OutputStyle,
} from '@holdfast/protocol';

type Entry = {
  call: CallDetail;
  state: 'pending' | 'awaiting-approval' | 'claimed' | 'finished' | 'sealed';
  fence: number;
  approval: 'none' | 'accepted';
  claimedBy?: { machineId: string; bootId: string };
  output?: CallOutput;
};

export type NewTestCall = {
  callId: string;
  tool: string;
  input: string;
  cwd: string;
  form?: 'function' | 'freeform';
  approvalPolicy?: ApprovalPolicy;
  outputStyle?: OutputStyle;
};

export const testSessionId = '0198f3a0-1111-7222-8333-444455556666';
export const testTurnId = 'turn-1';

export class StrictCallLog
  implements Pick<CallLog, 'claimCall' | 'askApproval' | 'finishCall'>, Pick<BlobStore, 'putBlob'>
{
  readonly claims: Claim['kind'][] = [];
  readonly questions: string[] = [];
  readonly blobs = new Map<string, Uint8Array>();
  /** Thrown by the next `finishCall` that gets this far. */
  refuseFinish: Error | undefined;
  readonly #calls = new Map<string, Entry>();
  readonly #waiting: { callId: string; resolve: (output: CallOutput) => void }[] = [];

  add(call: NewTestCall): { sessionId: string; callId: string } {
    const { callId, tool, input, cwd, form = 'function', approvalPolicy = 'never', outputStyle } = call;
    if (this.#calls.has(callId)) throw new Error(`call ${callId} exists`);
    const detail: CallDetail = {
      sessionId: testSessionId,
      turnId: testTurnId,
      callId,
      modelCallId: `model-${callId}`,
      tool,
      form,
      input,
      context: { cwd, approvalPolicy, ...(outputStyle ? { outputStyle } : {}) },
    };
    this.#calls.set(callId, { call: detail, state: 'pending', fence: 0, approval: 'none' });
    return { sessionId: testSessionId, callId };
  }

  claimCall(request: Parameters<CallLog['claimCall']>[0]): Promise<Claim> {
    const claim = this.#claim(request);
    this.claims.push(claim.kind);
    return Promise.resolve(claim);
  }

  askApproval(request: Parameters<CallLog['askApproval']>[0]): Promise<{ approvalId: string }> {
    const entry = this.#entry(request.callId);
    this.#assertFence(entry, request.fence);
    entry.state = entry.approval === 'accepted' ? 'pending' : 'awaiting-approval';
    this.questions.push(request.question);
    return Promise.resolve({ approvalId: toApprovalId(request.callId) });
  }

  async finishCall(request: Parameters<CallLog['finishCall']>[0]) {
    await Promise.resolve();
    const entry = this.#entry(request.callId);
    const refusal = this.refuseFinish;
    this.refuseFinish = undefined;
    if (refusal) throw refusal;
    this.#assertFence(entry, request.fence);
    if (entry.output) throw new Error(`call ${request.callId} was finished twice under one fence`);
    return this.#finish(entry, request.output);
  }

  accept(callId: string): void {
    const entry = this.#entry(callId);
    if (entry.state !== 'awaiting-approval') throw new Error(`call ${callId} waits for no approval`);
    Object.assign(entry, { state: 'pending', approval: 'accepted' });
  }

  /** Ends the turn, as an interrupt does. */
  seal(callId: string): void {
    const entry = this.#entry(callId);
    if (entry.state !== 'finished') Object.assign(entry, { state: 'sealed', fence: entry.fence + 1 });
  }

  /** What a claim by somebody else leaves behind. */
  claimElsewhere(callId: string, machineId: string): void {
    this.#claim({ sessionId: testSessionId, callId, machineId, bootId: 'elsewhere' });
  }

  outputOf(callId: string): CallOutput | undefined {
    return this.#entry(callId).output;
  }

  fenceOf(callId: string): number {
    return this.#entry(callId).fence;
  }

  finished(callId: string): Promise<CallOutput> {
    const { output } = this.#entry(callId);
    if (output) return Promise.resolve(output);
    return new Promise((resolve) => this.#waiting.push({ callId, resolve }));
  }

  putBlob({ bytes }: Parameters<BlobStore['putBlob']>[0]): Promise<{ digest: string; size: number }> {
    const digest = createHash('sha256').update(bytes).digest('hex');
    this.blobs.set(digest, Uint8Array.from(bytes));
    return Promise.resolve({ digest, size: bytes.length });
  }

  #claim({ callId, machineId, bootId }: Parameters<CallLog['claimCall']>[0]): Claim {
    const entry = this.#entry(callId);
    switch (entry.state) {
      case 'sealed':
        return { kind: 'sealed' };
      case 'finished':
        return {
          kind: 'finished',
          status: entry.output?.status ?? 'ok',
          outputTokens: entry.output?.tokens ?? 0,
        };
      case 'awaiting-approval':
        return { kind: 'awaiting-approval', approvalId: toApprovalId(callId) };
      case 'pending':
      case 'claimed': {
        const previous = entry.state === 'claimed' ? entry.claimedBy : undefined;
        Object.assign(entry, { state: 'claimed', fence: entry.fence + 1, claimedBy: { machineId, bootId } });
        const { fence, call, approval } = entry;
        return previous ? { kind: 'resolve', fence, call, previous } : { kind: 'run', fence, call, approval };
      }
    }
  }

  #finish(entry: Entry, output: CallOutput) {
    Object.assign(entry, { state: 'finished', output });
    for (const waiting of this.#waiting) if (waiting.callId === entry.call.callId) waiting.resolve(output);
    return { status: output.status, outputTokens: output.tokens };
  }

  #assertFence(entry: Entry, fence: number): void {
    if (entry.state !== 'claimed' || entry.fence !== fence) throw new Failure('store.stale-fence');
  }

  #entry(callId: string): Entry {
    const entry = this.#calls.get(callId);
    if (!entry) throw new Failure('call.unknown', { detail: callId });
    return entry;
  }
}
