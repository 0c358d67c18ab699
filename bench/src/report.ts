import type { Spread } from './statistics.ts';

export type Row = { name: string; value: string; target?: string; met?: boolean };

const round = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(1));

export function toSpreadText(spread: Spread): string {
  return `p50 ${round(spread.p50)}  p95 ${round(spread.p95)} ms`;
}

/** A row against the Codex binary in the same run; without the binary only the value is shown. */
export function toRatioRow(name: string, ours: Spread, theirs: Spread | undefined, limit: number): Row {
  if (!theirs) return { name, value: toSpreadText(ours), target: `≤ ${limit} × Codex (not given)` };
  const ratio = ours.p50 / theirs.p50;
  return {
    name,
    value: `${toSpreadText(ours)}  = ${ratio.toFixed(2)} × Codex (${round(theirs.p50)} ms)`,
    target: `≤ ${limit} ×`,
    met: ratio <= limit,
  };
}

export function toLimitRow(
  name: string,
  text: string,
  check: { value: number; limit: number; unit: string },
): Row {
  return { name, value: text, target: `≤ ${check.limit} ${check.unit}`, met: check.value <= check.limit };
}

export function toTable(rows: readonly Row[]): string {
  const nameWidth = Math.max(...rows.map((row) => row.name.length));
  const valueWidth = Math.max(...rows.map((row) => row.value.length));
  return rows
    .map((row) => {
      const verdict = row.met === undefined ? '' : row.met ? '  met' : '  MISSED';
      return `${row.name.padEnd(nameWidth)}  ${row.value.padEnd(valueWidth)}  ${row.target ?? ''}${verdict}`.trimEnd();
    })
    .join('\n');
}
