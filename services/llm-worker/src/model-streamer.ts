import { createOpenAiClient } from './adapters/openai.ts';
import type { AttemptStreamer } from './domain/ports.ts';
import { createStepSampler, type StepSamplerDeps } from './domain/step-sampler.ts';

export type ModelStreamerDeps = Omit<StepSamplerDeps, 'client'> & {
  /** A stream without any event for this long is given up; default 300 s. */
  idleMs?: number;
};

const defaultIdleMs = 300_000;

/**
 * The model side of the loop over the Responses API, one attempt a call; wrap it in `withRetries` where no Temporal repeats it.
 * @throws Failure (see `createStepSampler`), or the signal's reason after an abort
 */
export function createModelStreamer({ idleMs = defaultIdleMs, ...deps }: ModelStreamerDeps): AttemptStreamer {
  return createStepSampler({ ...deps, client: createOpenAiClient({ idleMs }) });
}
