// write-file.ts: one file, written as a whole. What became of a write is told by the hashes of before and after, as for a patch.
import type { CallDetail, CallOutput } from '@holdfast/protocol';
import { toShortOutput } from '../../call-outputs.ts';
import {
  readState,
  toChanges,
  toEvidence,
  toPlan,
  toPlannedChanges,
  type EditPlan,
} from '../../file-edits/file-edit.ts';
import { locate, type Scope } from '../../file-edits/location.ts';
import { resolveEdits, type EditSuccess } from '../../file-edits/resolve-edits.ts';
import { writeEdits } from '../../file-edits/writer.ts';
import { toAbsolutePath } from '../../files/file-path.ts';
import { toSize } from '../../files/text-file.ts';
import type { Prepared, Tool } from '../../tool.ts';
import { writeFileTool } from './spec.ts';

const died =
  'The worker died while it wrote the file, and the file is neither as before nor as it was to be: somebody else has changed it.';

/** @param options.workspace a folder that every session of the machine may change, beside its own */
export function createWriteFile({ workspace }: { workspace: string }): Tool {
  return {
    spec: writeFileTool.spec,
    prepare: (call) => Promise.resolve(prepare(call, workspace)),
    resolve: (_run, traces) => Promise.resolve(resolveEdits(traces, { toSuccess, unknown: died })),
  };
}

function prepare(call: CallDetail, workspace: string): Prepared {
  const given = writeFileTool.readArguments(call.input);
  if (given.kind === 'refused') return refuse(given.text);
  const scope = { cwd: call.context.cwd, roots: [call.context.cwd, workspace] };
  try {
    const plan = planWrite(scope, { name: given.value.file_path, after: Buffer.from(given.value.content) });
    const evidence = toEvidence(plan);
    return {
      kind: 'ready',
      question: `write_file: ${plan.summary.join(', ')}`,
      evidence,
      files: toPlannedChanges(evidence),
      run: () => Promise.resolve(write(plan)),
    };
  } catch (error) {
    return refuse(`write_file failed: ${toReason(error)}`);
  }
}

function planWrite(scope: Scope, { name, after }: { name: string; after: Buffer }): EditPlan {
  const place = locate(scope, toAbsolutePath(name, scope.cwd), { of: 'content' });
  const before = readState(place.target);
  const [kind, verb] = before ? (['update', 'Replaced'] as const) : (['add', 'Created'] as const);
  return toPlan([{ ...place, kind, before, after }], [`${verb} ${place.path} (${toSize(after.length)})`]);
}

/** Runs to its end also after an interrupt: it takes milliseconds. */
function write(plan: EditPlan): CallOutput {
  const startedAt = performance.now();
  const { error } = writeEdits(plan);
  const durationMs = performance.now() - startedAt;
  if (error === undefined) return toSuccess(plan.summary, { changes: toChanges(plan.edits), durationMs });
  return toShortOutput('failed', `write_file failed: ${toReason(error)}. Nothing was changed.`, durationMs);
}

function toSuccess(summary: readonly string[], { changes, durationMs }: EditSuccess): CallOutput {
  return { ...toShortOutput('ok', `${summary.join('\n')}.`, durationMs), changes };
}

function refuse(text: string): Prepared {
  return { kind: 'refused', output: toShortOutput('failed', text) };
}

function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
