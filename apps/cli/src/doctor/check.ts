/** One thing that was looked at. A failed check always says what to do. */
export type Check =
  | { name: string; state: 'ok'; detail: string }
  | { name: string; state: 'failed'; detail: string; fix: string }
  /** Could not be looked at because of another check that failed. */
  | { name: string; state: 'skipped'; detail: string };

export function ok(name: string, detail: string): Check {
  return { name, state: 'ok', detail };
}

export function failed(name: string, detail: string, fix: string): Check {
  return { name, state: 'failed', detail, fix };
}

export function skipped(name: string, detail: string): Check {
  return { name, state: 'skipped', detail };
}
