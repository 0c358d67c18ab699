import { createHash } from 'node:crypto';
import type { Catalog, ToolSpec } from '@holdfast/protocol';

/** A catalog of these tools, ordered by name, so that the same tools give the same digest whoever lists them. Pure. */
export function toCatalog(tools: readonly ToolSpec[]): Catalog {
  const ordered = tools.toSorted((left, right) => compare(left.name, right.name));
  return { digest: createHash('sha256').update(toCanonicalJson(ordered)).digest('hex'), tools: ordered };
}

/** JSON in which the keys of every object stand in one fixed order; members that are undefined are left out. */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => (isRecord(member) ? toOrdered(member) : member));
}

function toOrdered(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).toSorted(([left], [right]) => compare(left, right)));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
