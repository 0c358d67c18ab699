// bounded-text.ts: how much of a tool's output the model reads: the beginning and the end, with a note of what is missing between.
// A token is counted as four bytes of UTF-8, so the same text is cut at the same place everywhere, without a tokenizer.

const bytesPerToken = 4;

export type BoundedText = {
  /** What the model reads; when `cut`, with two lines that say so and a blank line in front. */
  text: string;
  cut: boolean;
  /** Approximate size of `text`. */
  tokens: number;
  /** Approximate size of the whole output. */
  originalTokens: number;
  /** Lines of the whole output; a last line without a line break counts. */
  totalLines: number;
};

/** The two ends of an output that is not in memory as a whole. Both ends must be at least as long as their half of the bound. */
export type TextEnds = { head: string; tail: string; totalBytes: number; totalLines: number };

/** Keeps at most `tokens` of the text, half from each end, and never splits a character. Never throws; equal input gives equal output. */
export function boundText(text: string, bound: { tokens: number }): BoundedText {
  const totalBytes = countBytes(text);
  const totalLines = countLines(text);
  if (totalBytes <= bound.tokens * bytesPerToken) {
    const tokens = toTokens(totalBytes);
    return { text, cut: false, tokens, originalTokens: tokens, totalLines };
  }
  return boundEnds({ head: text, tail: text, totalBytes, totalLines }, bound);
}

/** The same for an output larger than the bound of which only the ends are at hand; equal to `boundText` of the whole. */
export function boundEnds(ends: TextEnds, bound: { tokens: number }): BoundedText {
  const budget = bound.tokens * bytesPerToken;
  const head = takeHead(ends.head, Math.floor(budget / 2));
  const tail = takeTail(ends.tail, budget - Math.floor(budget / 2));
  const missing = toTokens(ends.totalBytes - countBytes(head) - countBytes(tail));
  const originalTokens = toTokens(ends.totalBytes);
  const text = [
    `Warning: truncated output (original token count: ${originalTokens})`,
    `Total output lines: ${ends.totalLines}`,
    '',
    `${head}…${missing} tokens truncated…${tail}`,
  ].join('\n');
  return { text, cut: true, tokens: toTokens(countBytes(text)), originalTokens, totalLines: ends.totalLines };
}

function toTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}

function countBytes(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length;) {
    const units = isPair(text, index) ? 2 : 1;
    bytes += toBytes(text.charCodeAt(index), units);
    index += units;
  }
  return bytes;
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return text === '' || text.endsWith('\n') ? lines : lines + 1;
}

function takeHead(text: string, budget: number): string {
  let bytes = 0;
  for (let index = 0; index < text.length;) {
    const units = isPair(text, index) ? 2 : 1;
    bytes += toBytes(text.charCodeAt(index), units);
    if (bytes > budget) return text.slice(0, index);
    index += units;
  }
  return text;
}

function takeTail(text: string, budget: number): string {
  let bytes = 0;
  for (let end = text.length; end > 0;) {
    const units = isPair(text, end - 2) ? 2 : 1;
    bytes += toBytes(text.charCodeAt(end - 1), units);
    if (bytes > budget) return text.slice(end);
    end -= units;
  }
  return text;
}

/** A lone surrogate is written as U+FFFD, three bytes. */
function toBytes(code: number, units: 1 | 2): number {
  if (units === 2) return 4;
  if (code < 0x80) return 1;
  return code < 0x8_00 ? 2 : 3;
}

/** True when a surrogate pair starts at `index`. */
function isPair(text: string, index: number): boolean {
  const high = text.charCodeAt(index);
  const low = text.charCodeAt(index + 1);
  return high >= 0xd8_00 && high <= 0xdb_ff && low >= 0xdc_00 && low <= 0xdf_ff;
}
