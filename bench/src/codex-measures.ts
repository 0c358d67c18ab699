import type { ModelServer } from '@holdfast/model-script';
import { answer, script } from '@holdfast/testing';
import { runCodex } from './codex.ts';
import { toSpread, type Spread } from './statistics.ts';
import { toStepScript, toStepSpread, type StepKind } from './steps.ts';

export type CodexFigures = { shell: Spread; patch: Spread; sandboxed: Spread; firstRequest: Spread };

const startRuns = 6;

export async function measureCodex(binary: string, model: ModelServer, steps: number): Promise<CodexFigures> {
  const measure = async (kind: StepKind, sandboxed = false) => {
    const run = await runCodex({ binary, model, sandboxed }, toStepScript(kind, steps));
    return toStepSpread(model, run.scriptId);
  };
  const starts: number[] = [];
  for (let index = 0; index < startRuns; index += 1) {
    const run = await runCodex({ binary, model }, script(answer('hi')));
    const first = model.requests.find(
      (request) => request.scriptId === run.scriptId && request.number !== undefined,
    );
    starts.push((first?.receivedAt ?? Number.NaN) - run.startedAt);
  }
  return {
    shell: await measure('exec_command true'),
    patch: await measure('apply_patch'),
    sandboxed: await measure('exec_command true', true),
    firstRequest: toSpread(starts),
  };
}
