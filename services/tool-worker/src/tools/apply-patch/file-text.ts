// file-text.ts: the text of a file as lines that keep their own line ends. A lone carriage return is one, too, as for Codex 0.169.

export type FileLine = { text: string; end: string };

/** A last line without a line end has an empty one. */
export function toLines(text: string): FileLine[] {
  const lines: FileLine[] = [];
  let start = 0;
  for (const { 0: end, index } of text.matchAll(/\r\n|\n|\r/g)) {
    lines.push({ text: text.slice(start, index), end });
    start = index + end.length;
  }
  if (start < text.length) lines.push({ text: text.slice(start), end: '' });
  return lines;
}

/** The first line end of the file; LF when it has none. */
export function toLineEnd(lines: readonly FileLine[]): string {
  return lines.find((line) => line.end !== '')?.end ?? '\n';
}

/** Every line gets an end, so that the text ends with one. */
export function toText(lines: readonly FileLine[], lineEnd: string): string {
  return lines.map((line) => line.text + (line.end === '' ? lineEnd : line.end)).join('');
}
