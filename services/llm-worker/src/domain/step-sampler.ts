// step-sampler.ts: one attempt at one step: open it in the store, ask the model, commit the reply.
// Owns: the order of these, and what happens when another attempt got in between.
// Does not own: how often an attempt is repeated (Temporal, retries.ts), what a failure is called (adapters/failure-classification.ts).
// P1  A step that is committed or sealed is never asked again; the store says so when it is opened.
// P2  Nothing is committed after an abort was seen; the store refuses what comes too late all the same.
// P3  A commit refused as stale means that the step was opened again: by a newer attempt, or by a copy of our own request that
//     arrived late. The step is opened once more. If it was committed meanwhile, that reply is the answer. If not, and the
//     prompt is the one we asked with, the reply we hold is committed instead of being bought again; whoever holds the older
//     fence then finds it in the same way. So the first complete reply wins, and a turn does not end because of a race.
// P4  A failure that will be repeated is noted in the store before it is thrown, so that people see it.
// P5  Only the attempt that committed a reply announces its calls, and only those that the workflow dispatches first.
import { toGroups } from '@holdfast/agent-loop';
import type { BlobStore, MachineDirectory, OpenedStep, SampleRequest, StepLog } from '@holdfast/agent-loop';
import { Failure, toNotice } from '@holdfast/failures';
import type { StepReply } from '@holdfast/protocol';
import { createDeltaBuffer } from './delta-buffer.ts';
import { toRequestBody } from './model-request.ts';
import { toNewItems, type NewItems } from './new-calls.ts';
import type {
  AttemptStreamer,
  CallAnnouncer,
  DeltaSink,
  ModelClient,
  ModelDirectory,
  ModelReply,
  SampleAttempt,
} from './ports.ts';
import { createPromptCache, type Prompt, type PromptCache } from './prompt-cache.ts';
import { createImageReader, type ImageReader } from './request-images.ts';
import { firstAttempt, toNextAttempt } from './retries.ts';
import { createToolboxReader, type ToolboxReader } from './toolbox.ts';

export type StepSamplerDeps = {
  store: StepLog & Pick<MachineDirectory, 'readCatalog'> & Pick<BlobStore, 'readBlob'>;
  models: ModelDirectory;
  client: ModelClient;
  deltas: DeltaSink;
  /** Absent where calls are dispatched without a detour. */
  announcer?: CallAnnouncer;
  /** Default: 256 MiB and 1000 sessions. */
  cache?: PromptCache;
};

type Opened = Extract<OpenedStep, { kind: 'open' }>;
type Asked = { prompt: Prompt; reply: ModelReply; made: NewItems };
type Sampler = StepSamplerDeps & { cache: PromptCache; readToolbox: ToolboxReader; readImages: ImageReader };

/** A race for a step is settled in one round; more of them mean that something reopens it without end. */
const maxRounds = 5;

/**
 * Makes one attempt for each `sample`; see P1–P4. What follows a failure is for `toNextAttempt` to say.
 * @throws Failure model.*, store.unavailable, step.retried; the signal's reason after an abort
 */
export function createStepSampler(deps: StepSamplerDeps): AttemptStreamer {
  const sampler: Sampler = {
    ...deps,
    cache: deps.cache ?? createPromptCache(),
    readToolbox: createToolboxReader(deps.store),
    readImages: createImageReader(deps.store),
  };
  return {
    sample: (request, signal, attempt = firstAttempt) => sampleStep(sampler, request, { ...attempt, signal }),
  };
}

async function sampleStep(
  sampler: Sampler,
  request: SampleRequest,
  attempt: SampleAttempt & { signal: AbortSignal },
): Promise<StepReply> {
  let asked: Asked | undefined;
  for (let round = 1; round <= maxRounds; round += 1) {
    attempt.signal.throwIfAborted();
    const base = sampler.cache.find(request.sessionId);
    const have = base ? { have: { epoch: base.epoch, seq: base.seq } } : {};
    const opened = await sampler.store.openStep({ ...request, ...have });
    if (opened.kind === 'sealed') return opened;
    if (opened.kind === 'committed') return opened.reply;
    const prompt = sampler.cache.extend(request.sessionId, base, opened);
    if (!asked || !isSamePrompt(asked.prompt, prompt)) {
      asked = await ask(sampler, { request, opened, prompt }, attempt);
    }
    attempt.signal.throwIfAborted();
    const committed = await commit(sampler, { request, opened, asked });
    if (committed) {
      announce(sampler, { request, opened, reply: committed }); // P5
      return committed;
    }
  }
  throw new Failure('step.retried', { detail: 'other attempts keep opening this step' });
}

function isSamePrompt(one: Prompt, other: Prompt): boolean {
  return one.epoch === other.epoch && one.seq === other.seq;
}

type OpenAttempt = { request: SampleRequest; opened: Opened; prompt: Prompt };

async function ask(
  sampler: Sampler,
  { request, opened, prompt }: OpenAttempt,
  attempt: SampleAttempt & { signal: AbortSignal },
): Promise<Asked> {
  const { sessionId, turnId, step } = request;
  const { catalogs, settings } = opened;
  const model = await sampler.models.resolve(sessionId, settings.model);
  const profile = settings.model.tools ?? 'codex';
  const toolbox = await sampler.readToolbox({ catalogs, profile, hosted: model.hosted });
  const items = await sampler.readImages(prompt.items);
  const body = toRequestBody({ sessionId, model: model.name, items, tools: toolbox.tools });
  const deltas = createDeltaBuffer(sampler.deltas, { sessionId, turnId, step, attempt: opened.fence });
  try {
    const reply = await sampler.client.stream({ model, body, onDelta: deltas.add }, attempt.signal);
    deltas.flush();
    return { prompt, reply, made: toNewItems(reply.items, { prompt: prompt.items, specs: toolbox.specs }) };
  } catch (error) {
    deltas.discard();
    attempt.signal.throwIfAborted();
    const next = toNextAttempt(error, attempt);
    const note = { sessionId, turnId, step, fence: opened.fence, error: toNotice(error) };
    const waiting = next?.waiting ? { waiting: next.waiting } : {};
    await sampler.store
      .noteFailure({ ...note, willRetry: next !== undefined, ...waiting })
      .catch(() => undefined);
    throw error;
  }
}

/** The machine claims the calls while their dispatch is still on its way through Temporal (design §12). */
function announce(
  { announcer }: Sampler,
  { request, opened, reply }: { request: SampleRequest; opened: Opened; reply: StepReply },
): void {
  if (reply.kind === 'sealed') return;
  const [group = []] = toGroups(reply.calls);
  const callIds = group.filter(({ placement }) => placement === 'machine').map(({ callId }) => callId);
  const { sessionId, turnId } = request;
  if (callIds.length > 0) announcer?.publishCalls(opened.settings.machineId, { sessionId, turnId, callIds });
}

/** @returns undefined when the fence is stale (P3) */
async function commit(
  sampler: Sampler,
  { request, opened, asked }: { request: SampleRequest; opened: Opened; asked: Asked },
): Promise<StepReply | undefined> {
  const { sessionId, turnId, step } = request;
  const { responseId, usage, endTurn } = asked.reply;
  try {
    return await sampler.store.commitStep({
      sessionId,
      turnId,
      step,
      fence: opened.fence,
      ordinal: opened.ordinal,
      responseId: responseId === '' ? `${turnId}.${step}.${opened.fence}` : responseId,
      items: asked.made.items,
      calls: asked.made.calls,
      usage,
      contextTokens: usage.inputTokens + usage.outputTokens,
      endTurn,
    });
  } catch (error) {
    if (error instanceof Failure && error.code === 'store.stale-fence') return undefined;
    throw error;
  }
}
