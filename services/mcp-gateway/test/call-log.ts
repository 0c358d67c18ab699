// A strict call log in memory: it refuses what a real store refuses, and remembers everything it was asked to write.
import { createHash } from 'node:crypto';
import { Failure } from '@holdfast/failures';
import {
  toApprovalId,
  type CallDetail,
  type CallOutput,
  type CallStatus,
  type Claim,
} from '@holdfast/protocol';
import type { CallStore } from '../src/execute-call.ts';

type Row = {
  call: CallDetail;
  fence: number;
  claimedBy?: { machineId: string; bootId: string };
  approval: 'none' | 'asked' | 'accepted';
  finished?: { status: CallStatus; outputTokens: number };
  sealed: boolean;
};

export type Written =
  | { kind: 'progress'; callId: string; fence: number; progress: number; total?: number; message?: string }
  | { kind: 'question'; callId: string; question: string }
  | { kind: 'output'; callId: string; fence: number; output: CallOutput };

export class FakeCallLog implements CallStore {
  readonly written: Written[] = [];
  readonly blobs = new Map<string, string>();
  /** Called before an output is recorded; it may throw what the store would throw. */
  beforeFinish: () => void | Promise<void> = () => undefined;
  readonly #rows = new Map<string, Row>();

  add(call: CallDetail): void {
    this.#rows.set(call.callId, { call, fence: 0, approval: 'none', sealed: false });
  }

  accept(callId: string): void {
    this.#find(callId).approval = 'accepted';
  }

  seal(callId: string): void {
    this.#find(callId).sealed = true;
  }

  claimCall(request: {
    sessionId: string;
    callId: string;
    machineId: string;
    bootId: string;
  }): Promise<Claim> {
    const row = this.#find(request.callId);
    const { call, finished, claimedBy: previous } = row;
    if (finished) return Promise.resolve({ kind: 'finished', ...finished });
    if (row.sealed) return Promise.resolve({ kind: 'sealed' });
    if (row.approval === 'asked')
      return Promise.resolve({ kind: 'awaiting-approval', approvalId: toApprovalId(call.callId) });
    row.fence += 1;
    row.claimedBy = { machineId: request.machineId, bootId: request.bootId };
    if (previous) return Promise.resolve({ kind: 'resolve', fence: row.fence, call, previous });
    return Promise.resolve({ kind: 'run', fence: row.fence, call, approval: row.approval });
  }

  askApproval(request: { callId: string; fence: number; question: string }): Promise<{ approvalId: string }> {
    const row = this.#find(request.callId);
    if (request.fence !== row.fence) throw new Failure('store.stale-fence');
    delete row.claimedBy;
    row.approval = 'asked';
    this.written.push({ kind: 'question', callId: request.callId, question: request.question });
    return Promise.resolve({ approvalId: toApprovalId(request.callId) });
  }

  appendProgress(request: {
    sessionId: string;
    callId: string;
    fence: number;
    progress: number;
    total?: number;
    message?: string;
  }): Promise<void> {
    const { sessionId: _sessionId, ...note } = request;
    if (note.fence === this.#find(note.callId).fence) this.written.push({ kind: 'progress', ...note });
    return Promise.resolve();
  }

  async finishCall(request: {
    callId: string;
    fence: number;
    output: CallOutput;
  }): Promise<{ status: CallStatus; outputTokens: number }> {
    await this.beforeFinish();
    const row = this.#find(request.callId);
    if (row.finished) return row.finished;
    if (row.sealed || request.fence !== row.fence || !row.claimedBy) throw new Failure('store.stale-fence');
    const { callId, fence, output } = request;
    row.finished = { status: output.status, outputTokens: output.tokens };
    this.written.push({ kind: 'output', callId, fence, output });
    return row.finished;
  }

  putBlob(request: { bytes: Uint8Array; mediaType: string }): Promise<{ digest: string; size: number }> {
    const digest = createHash('sha256').update(request.bytes).digest('hex');
    this.blobs.set(digest, new TextDecoder().decode(request.bytes));
    return Promise.resolve({ digest, size: request.bytes.length });
  }

  /** The outputs that were recorded. */
  outputs(): CallOutput[] {
    return this.written.flatMap((entry) => (entry.kind === 'output' ? [entry.output] : []));
  }

  #find(callId: string): Row {
    const row = this.#rows.get(callId);
    if (!row) throw new Failure('call.unknown');
    return row;
  }
}

export const sessionId = '0a4f6a1e-6b0f-4a53-9a1c-3f1d8f6f3b11';

export function toCall(
  callId: string,
  call: { tool: string; input?: string; approvalPolicy?: 'never' | 'always' },
): CallDetail {
  return {
    sessionId,
    turnId: 'turn-1',
    callId,
    modelCallId: `call_${callId}`,
    tool: call.tool,
    form: 'function',
    input: call.input ?? '{}',
    context: { cwd: '/', approvalPolicy: call.approvalPolicy ?? 'never' },
  };
}
