// retry-after.ts: how long an endpoint asks us to wait, from the places where providers say it.

export type PauseHints = {
  headers?: Pick<Headers, 'get'> | undefined;
  /** Of a rate limit that arrives inside a stream; only its text says how long. */
  message?: string | null | undefined;
};

/** Up to this part is added, never taken away, so that many waiting sessions do not come back at one moment. */
const jitter = 0.1;

/** @returns milliseconds with jitter, or undefined when nothing was asked for */
export function toRetryAfterMs(hints: PauseHints, random: () => number = Math.random): number | undefined {
  const ms = fromHeaders(hints.headers) ?? fromMessage(hints.message);
  return ms === undefined ? undefined : Math.ceil(ms * (1 + jitter * random()));
}

function fromHeaders(headers: PauseHints['headers']): number | undefined {
  if (!headers) return undefined;
  return (
    toNumber(headers.get('retry-after-ms')) ??
    fromRetryAfter(headers.get('retry-after')) ??
    fromResetHeaders(headers)
  );
}

function fromRetryAfter(value: string | null): number | undefined {
  const seconds = toNumber(value);
  if (seconds !== undefined) return seconds * 1000;
  const at = value === null ? Number.NaN : Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(at - Date.now(), 0);
}

/** The reset that counts is the one of the allowance that is used up. */
function fromResetHeaders(headers: Pick<Headers, 'get'>): number | undefined {
  const resets = ['requests', 'tokens']
    .filter((kind) => headers.get(`x-ratelimit-remaining-${kind}`)?.trim() === '0')
    .map((kind) => toDurationMs(headers.get(`x-ratelimit-reset-${kind}`) ?? ''))
    .filter((ms) => ms !== undefined);
  return resets.length === 0 ? undefined : Math.max(...resets);
}

function fromMessage(message: string | null | undefined): number | undefined {
  const [, amount, unit] = /try again in\s*([\d.]+)\s*(ms|s|seconds?)\b/i.exec(message ?? '') ?? [];
  const number = toNumber(amount ?? null);
  return number === undefined ? undefined : number * (unit?.toLowerCase() === 'ms' ? 1 : 1000);
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** For example `6m0s` or `17ms`. */
function toDurationMs(text: string): number | undefined {
  const parts = [...text.matchAll(/([\d.]+)(ms|s|m|h|d)/g)];
  if (parts.length === 0) return undefined;
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (unitMs[unit ?? ''] ?? 0), 0);
}

function toNumber(value: string | null): number | undefined {
  if (value === null || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) && number >= 0 ? number : undefined;
}
