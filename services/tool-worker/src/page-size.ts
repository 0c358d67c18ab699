import { toBoundBytes, toOutputBound, type CallContext } from '@holdfast/protocol';

/** How much of a listing one call hands out; the rest is asked for, so that nothing in the middle is missing. */
export type PageSize = { lines: number; bytes: number };

/** What the model of the session may read of one output, and no more lines than it asked for. */
export function toPageSize(context: Pick<CallContext, 'outputStyle'>, wantedLines: number): PageSize {
  const bound = toOutputBound(context.outputStyle);
  const lines = 'lines' in bound ? Math.min(bound.lines, wantedLines) : wantedLines;
  return { lines, bytes: toBoundBytes(bound) };
}
