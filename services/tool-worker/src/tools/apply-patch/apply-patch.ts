// apply-patch.ts: the tool around parser, plan and writer.
import type { CallDetail, CallOutput } from '@holdfast/protocol';
import { toShortOutput, toUnknownOutput } from '../../call-outputs.ts';
import type { Prepared, Tool, Traces } from '../../tool.ts';
import { inspectPatch } from './outcome.ts';
import { parsePatch } from './parser.ts';
import { PatchError } from './patch.ts';
import { planPatch, toEvidence, type PatchEvidence, type PatchPlan } from './plan.ts';
import { applyPatchSpec } from './spec.ts';
import { writeEdit } from './writer.ts';

export function createApplyPatch(): Tool {
  return {
    spec: applyPatchSpec,
    prepare: (call) => Promise.resolve(prepare(call)),
    resolve: (_run, traces) => Promise.resolve(resolveOutcome(traces)),
  };
}

function prepare(call: CallDetail): Prepared {
  let plan: PatchPlan;
  try {
    plan = planPatch(parsePatch(toPatchText(call)), call.context.cwd);
  } catch (error) {
    return refuse(
      `apply_patch verification failed: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (plan.edits.length === 0) return refuse('No files were modified.');
  const evidence = toEvidence(plan);
  return {
    kind: 'ready',
    question: `apply_patch: ${plan.summary.join(', ')}`,
    evidence,
    files: evidence.files,
    run: () => Promise.resolve(apply(plan)),
  };
}

/** Some models send the freeform text as the one argument of a function. */
function toPatchText(call: CallDetail): string {
  if (call.form === 'freeform') return call.input;
  let value: unknown;
  try {
    value = JSON.parse(call.input);
  } catch {
    return call.input;
  }
  const { input, patch } = (value ?? {}) as { input?: unknown; patch?: unknown };
  const text = input ?? patch;
  if (typeof text !== 'string')
    throw new PatchError('send the patch as plain text that begins with *** Begin Patch');
  return text;
}

/** Runs to its end also after an interrupt: it takes milliseconds, and half a patch helps nobody. */
function apply(plan: PatchPlan): CallOutput {
  const startedAt = performance.now();
  const done: string[] = [];
  try {
    for (const edit of plan.edits) {
      writeEdit(edit);
      done.push(edit.path);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const changed = done.length === 0 ? 'Nothing was changed.' : `Changed before that: ${done.join(', ')}.`;
    return toShortOutput(
      'failed',
      `apply_patch failed: ${reason}. ${changed}`,
      performance.now() - startedAt,
    );
  }
  return toSuccess(plan, performance.now() - startedAt);
}

function toSuccess(
  { changes, summary }: Pick<PatchPlan, 'changes' | 'summary'>,
  durationMs: number,
): CallOutput {
  const seconds = Math.round(durationMs / 100) / 10;
  const text = [
    'Exit code: 0',
    `Wall time: ${seconds} seconds`,
    'Output:',
    'Success. Updated the following files:',
    ...summary,
    '',
  ].join('\n');
  return { ...toShortOutput('ok', text, durationMs), changes };
}

function resolveOutcome(traces: Traces): CallOutput | 'not-started' {
  const evidence = traces.evidence as PatchEvidence;
  const outcome = inspectPatch(evidence);
  switch (outcome.kind) {
    case 'applied':
      return toSuccess(evidence, 0);
    case 'untouched':
      return 'not-started';
    case 'mixed':
      return toUnknownOutput(`The worker died while it applied the patch. ${outcome.known}`);
  }
}

function refuse(text: string): Prepared {
  return { kind: 'refused', output: toShortOutput('failed', text) };
}
