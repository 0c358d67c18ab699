export type Spread = { p50: number; p95: number; min: number; count: number };

/** Values in milliseconds, or whatever unit they have. @throws RangeError without values */
export function toSpread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  if (sorted.length === 0) throw new RangeError('no values were measured');
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), min: at(0), count: sorted.length };
}
