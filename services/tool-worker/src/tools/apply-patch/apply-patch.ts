// apply-patch.ts: the tool around parser, plan and writer.
import type { CallDetail, CallOutput } from '@holdfast/protocol';
import { toShortOutput } from '../../call-outputs.ts';
import { toChanges, toEvidence, toPlannedChanges, type EditPlan } from '../../file-edits/file-edit.ts';
import type { Scope } from '../../file-edits/location.ts';
import { resolveEdits, type EditSuccess } from '../../file-edits/resolve-edits.ts';
import { writeEdits } from '../../file-edits/writer.ts';
import type { Prepared, Tool } from '../../tool.ts';
import { parsePatch } from './parser.ts';
import { PatchError } from './patch.ts';
import { planPatch } from './plan.ts';
import { applyPatchSpec } from './spec.ts';

const died = 'The worker died while it applied the patch.';

export type ApplyPatch = Tool & {
  /** Like `prepare`, but relative paths start at `cwd`, an absolute path; what the session may change stays the same. */
  prepareIn(call: CallDetail, cwd: string): Promise<Prepared>;
};

/** @param options.workspace a folder that every session of the machine may change, beside its own */
export function createApplyPatch({ workspace }: { workspace: string }): ApplyPatch {
  const prepareIn = (call: CallDetail, cwd: string) =>
    Promise.resolve(prepare(call, { cwd, roots: [call.context.cwd, workspace] }));
  return {
    spec: applyPatchSpec,
    prepare: (call) => prepareIn(call, call.context.cwd),
    prepareIn,
    resolve: (_run, traces) => Promise.resolve(resolveEdits(traces, { toSuccess, unknown: died })),
  };
}

function prepare(call: CallDetail, scope: Scope): Prepared {
  let plan: EditPlan;
  try {
    plan = planPatch(parsePatch(toPatchText(call)), scope);
  } catch (error) {
    return refuse(`apply_patch verification failed: ${toReason(error)}`);
  }
  if (plan.edits.length === 0) return refuse('No files were modified.');
  const evidence = toEvidence(plan);
  return {
    kind: 'ready',
    question: `apply_patch: ${plan.summary.join(', ')}`,
    evidence,
    files: toPlannedChanges(evidence),
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
function apply(plan: EditPlan): CallOutput {
  const startedAt = performance.now();
  const { done, error } = writeEdits(plan);
  const durationMs = performance.now() - startedAt;
  if (error === undefined) return toSuccess(plan.summary, { changes: toChanges(plan.edits), durationMs });
  const changed =
    done.length === 0
      ? 'Nothing was changed.'
      : `Changed before that: ${done.map(({ path }) => path).join(', ')}.`;
  const text = `apply_patch failed: ${toReason(error)}. ${changed}`;
  return { ...toShortOutput('failed', text, durationMs), changes: toChanges(done) };
}

function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function toSuccess(summary: readonly string[], { changes, durationMs }: EditSuccess): CallOutput {
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

function refuse(text: string): Prepared {
  return { kind: 'refused', output: toShortOutput('failed', text) };
}
