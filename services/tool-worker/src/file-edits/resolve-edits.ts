// resolve-edits.ts: the outcome resolver of every tool that writes files by a plan.
import type { CallOutput } from '@holdfast/protocol';
import { toUnknownOutput } from '../call-outputs.ts';
import type { Traces } from '../tool.ts';
import { toChanges, type EditEvidence } from './file-edit.ts';
import { inspectEdits } from './outcome.ts';

export type EditSuccess = Required<Pick<CallOutput, 'changes' | 'durationMs'>>;

export type EditWords = {
  /** The output of a call whose files are all as planned. */
  toSuccess: (summary: readonly string[], success: EditSuccess) => CallOutput;
  /** A sentence that stands before what is known of each file, when they are neither all before nor all after. */
  unknown: string;
};

/** What became of planned edits whose worker died. @param traces evidence as `toEvidence` made it */
export function resolveEdits(traces: Traces, { toSuccess, unknown }: EditWords): CallOutput | 'not-started' {
  const evidence = traces.evidence as EditEvidence;
  const outcome = inspectEdits(evidence);
  switch (outcome.kind) {
    case 'applied':
      return toSuccess(evidence.summary, { changes: toChanges(evidence.files), durationMs: 0 });
    case 'untouched':
      return 'not-started';
    case 'mixed':
      return toUnknownOutput(`${unknown} ${outcome.known}`);
  }
}
