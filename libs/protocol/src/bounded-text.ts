// bounded-text.ts: how much of a tool's output the model reads: the beginning and the end, with a note of what is missing between.
// A token is counted as four bytes of UTF-8, so the same text is cut at the same place everywhere, without a tokenizer.

const bytesPerToken = 4;

export type BoundedText = {
  /** What the model reads; when `cut`, with lines in front that say so, and a mark where something is missing. */
  text: string;
  cut: boolean;
  /** Approximate size of `text`. */
  tokens: number;
  /** Approximate size of the whole output. */
  originalTokens: number;
  /** Lines of the whole output; a last line without a line break counts. */
  totalLines: number;
};

/**
 * How much a model reads of one output: so many tokens, cut in the middle of the text; or so many lines and bytes, cut between lines.
 * Half of it is the beginning and half the end. What is said about the cut comes on top.
 */
export type OutputBound = { tokens: number } | { lines: number; bytes: number };

/** Which of the two bounds a model is used to. */
export type OutputStyle = 'tokens' | 'lines';

/** The bounds of Codex, by style; `tokens` replaces the limit of its style. */
export function toOutputBound(style: OutputStyle = 'tokens', tokens = 10_000): OutputBound {
  return style === 'tokens' ? { tokens } : { lines: 256, bytes: 10_240 };
}

/** The two ends of an output that is not in memory as a whole. Both ends must be at least as long as their half of the bound. */
export type TextEnds = { head: string; tail: string; totalBytes: number; totalLines: number };

/** Keeps at most the bound, half from each end, and never splits a character. Never throws; equal input gives equal output. */
export function boundText(text: string, bound: OutputBound): BoundedText {
  const totalBytes = countBytes(text);
  const totalLines = countLines(text);
  if (fits({ totalBytes, totalLines }, bound)) {
    const tokens = toTokens(totalBytes);
    return { text, cut: false, tokens, originalTokens: tokens, totalLines };
  }
  return boundEnds({ head: text, tail: text, totalBytes, totalLines }, bound);
}

/** The bytes of both ends together that `boundEnds` may need. */
export function toBoundBytes(bound: OutputBound): number {
  return 'tokens' in bound ? bound.tokens * bytesPerToken : bound.bytes;
}

/** The same for an output larger than the bound of which only the ends are at hand; equal to `boundText` of the whole. */
export function boundEnds(ends: TextEnds, bound: OutputBound): BoundedText {
  const { totalBytes, totalLines } = ends;
  const text = 'tokens' in bound ? cutTokens(ends, toBoundBytes(bound)) : cutLines(ends, bound);
  const originalTokens = toTokens(totalBytes);
  return { text, cut: true, tokens: toTokens(countBytes(text)), originalTokens, totalLines };
}

function fits(size: { totalBytes: number; totalLines: number }, bound: OutputBound): boolean {
  if (size.totalBytes > toBoundBytes(bound)) return false;
  return 'tokens' in bound || size.totalLines <= bound.lines;
}

function cutTokens(ends: TextEnds, budget: number): string {
  const head = takeHead(ends.head, Math.floor(budget / 2));
  const tail = takeTail(ends.tail, budget - Math.floor(budget / 2));
  const missing = toTokens(ends.totalBytes - countBytes(head) - countBytes(tail));
  return [
    `Warning: truncated output (original token count: ${toTokens(ends.totalBytes)})`,
    `Total output lines: ${ends.totalLines}`,
    '',
    `${head}…${missing} tokens truncated…${tail}`,
  ].join('\n');
}

function cutLines(ends: TextEnds, bound: { lines: number; bytes: number }): string {
  const half = { lines: Math.floor(bound.lines / 2), bytes: Math.floor(bound.bytes / 2) };
  const head = takeHead(takeFirstLines(ends.head, half.lines), half.bytes);
  const tail = takeTail(takeLastLines(ends.tail, bound.lines - half.lines), bound.bytes - half.bytes);
  const missing = ends.totalLines - countLines(head) - countLines(tail);
  const marker =
    missing > 0
      ? `[... omitted ${missing} of ${ends.totalLines} lines ...]`
      : `[... output truncated to fit ${bound.bytes} bytes ...]`;
  const start = head === '' || head.endsWith('\n') ? head : `${head}\n`;
  return `Total output lines: ${ends.totalLines}\n\n${start}${marker}\n\n${tail}`;
}

function takeFirstLines(text: string, lines: number): string {
  let end = 0;
  for (let taken = 0; taken < lines; taken += 1) {
    const at = text.indexOf('\n', end);
    if (at === -1) return text;
    end = at + 1;
  }
  return text.slice(0, end);
}

function takeLastLines(text: string, lines: number): string {
  // A line break at the very end belongs to the last line.
  let start = text.length - (text.endsWith('\n') ? 1 : 0);
  for (let taken = 0; taken < lines; taken += 1) {
    const at = start === 0 ? -1 : text.lastIndexOf('\n', start - 1);
    if (at === -1) return text;
    start = at;
  }
  return text.slice(start + 1);
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
