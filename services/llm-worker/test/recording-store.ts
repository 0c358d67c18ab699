// recording-store.ts: the step log in a few lines, strict about fences, that remembers every request.
import type {
  BlobStore,
  CommitStep,
  MachineDirectory,
  OpenedStep,
  OpenStep,
  StepLog,
} from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import {
  toCallId,
  toUserMessage,
  type Catalog,
  type FailureNotice,
  type Item,
  type ModelSettings,
  type SessionSettings,
  type StepReply,
  type StoredItem,
  type TerminalStatus,
  type WaitingReason,
} from '@holdfast/protocol';

export const sessionId = '6f1d7a52-3c61-4a56-9a0e-5f1c6a2b7d10';
export const turnId = 'in_1';

export function toRequest(step = 1) {
  return { sessionId, turnId, step, inputs: step === 1 ? [turnId] : [] };
}

type Step = { fence: number; reply?: StepReply };

export class RecordingStore
  implements StepLog, Pick<MachineDirectory, 'readCatalog'>, Pick<BlobStore, 'readBlob'>
{
  readonly opened: OpenStep[] = [];
  readonly commits: CommitStep[] = [];
  readonly retries: { step: number; fence: number; error: FailureNotice; waiting?: WaitingReason }[] = [];
  /** Notices of attempts that are not repeated. */
  readonly ends: { step: number; fence: number; error: FailureNotice }[] = [];
  readonly catalogReads: string[] = [];
  readonly blobs = new Map<string, Uint8Array>();
  readonly blobReads: string[] = [];
  readonly items: StoredItem[] = [];
  readonly catalogs: readonly Catalog[];
  epoch = 1;
  settings: SessionSettings;
  sealed: TerminalStatus | undefined;
  /** Runs in front of each commit, so that a test can get in between. */
  beforeCommit: (commit: CommitStep) => Promise<void> | void = () => undefined;
  readonly #steps = new Map<number, Step>();
  readonly #inputs = new Set<string>();

  constructor(options: { model?: Partial<ModelSettings>; catalogs?: readonly Catalog[] } = {}) {
    const model = { name: 'gpt-5.5', ...options.model };
    this.settings = { cwd: '/work', machineId: 'm1', model, approvalPolicy: 'never' };
    this.catalogs = options.catalogs ?? [];
  }

  append(...items: Item[]): void {
    for (const item of items) this.items.push({ seq: this.items.length + 1, item });
  }

  /** A newer attempt, or a late copy of a request. */
  reopen(step: number): number {
    const state = this.#steps.get(step) ?? { fence: 0 };
    this.#steps.set(step, { ...state, fence: state.fence + 1 });
    return state.fence + 1;
  }

  openStep(request: OpenStep): Promise<OpenedStep> {
    this.opened.push(request);
    if (this.sealed) return Promise.resolve({ kind: 'sealed', status: this.sealed });
    const reply = this.#steps.get(request.step)?.reply;
    if (reply) return Promise.resolve({ kind: 'committed', reply });
    for (const inputId of request.inputs) {
      if (!this.#inputs.has(inputId)) this.append(toUserMessage(`text of ${inputId}`));
      this.#inputs.add(inputId);
    }
    const { have } = request;
    const reset = have?.epoch !== this.epoch;
    return Promise.resolve({
      kind: 'open',
      fence: this.reopen(request.step),
      ordinal: 1,
      epoch: this.epoch,
      reset,
      items: this.items.filter(({ seq }) => reset || seq > (have?.seq ?? 0)),
      settings: this.settings,
      catalogs: this.catalogs.map(({ digest }) => digest),
    });
  }

  async commitStep(commit: CommitStep): Promise<StepReply> {
    await this.beforeCommit(commit);
    const step = this.#steps.get(commit.step);
    if (!step || step.fence !== commit.fence) throw new Failure('store.stale-fence');
    this.commits.push(commit);
    this.append(...commit.items);
    const calls = commit.calls.map(({ tool, placement, parallel }, index) => ({
      callId: toCallId({ ordinal: commit.ordinal, step: commit.step, index }),
      tool,
      placement,
      parallel,
    }));
    const reply = {
      kind: 'reply' as const,
      calls,
      contextTokens: commit.contextTokens,
      endTurn: commit.endTurn,
    };
    this.#steps.set(commit.step, { ...step, reply });
    return reply;
  }

  noteFailure(note: {
    step: number;
    fence: number;
    error: FailureNotice;
    willRetry: boolean;
    waiting?: WaitingReason;
  }): Promise<void> {
    const { step, fence, error, waiting } = note;
    const noted = { step, fence, error, ...(waiting ? { waiting } : {}) };
    (note.willRetry ? this.retries : this.ends).push(noted);
    return Promise.resolve();
  }

  readCatalog({ digest }: { digest: string }): Promise<Catalog> {
    this.catalogReads.push(digest);
    const catalog = this.catalogs.find((known) => known.digest === digest);
    return catalog ? Promise.resolve(catalog) : Promise.reject(new Failure('catalog.unknown'));
  }

  readBlob({ digest }: { digest: string }): Promise<{ bytes: Uint8Array; mediaType: string }> {
    this.blobReads.push(digest);
    const bytes = this.blobs.get(digest);
    return bytes
      ? Promise.resolve({ bytes, mediaType: 'application/octet-stream' })
      : Promise.reject(new Failure('blob.unknown'));
  }
}
