// clean-text.ts: text that Postgres cannot keep (NUL, halves of surrogate pairs) becomes U+FFFD at the door of every adapter,
// so that both adapters remember the same.

/** What JSON.stringify writes for a NUL or half a surrogate pair; may also match harmless text, which only costs a second look. */
const suspicious = /\\u(?:0000|d[89a-f])/;

export function toCleanText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** The JSON text of `value`, free of characters that Postgres refuses. */
export function toCleanJson(value: unknown): string {
  const json = JSON.stringify(value);
  return suspicious.test(json) ? JSON.stringify(value, cleanValue) : json;
}

function cleanValue(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return toCleanText(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [toCleanText(key), part]));
}
