// file-text.ts: the text of a file as lines that keep their own line ends.

export type FileLine = { text: string; end: string };

/** A last line without a line end has an empty one. */
export function toLines(text: string): FileLine[] {
  return Array.from(text.matchAll(/([^\n]*?)(\r?\n)|([^\n]+)$/g), (match) => ({
    text: match[1] ?? match[3] ?? '',
    end: match[2] ?? '',
  }));
}

/** The first line end of the file; LF when it has none. */
export function toLineEnd(lines: readonly FileLine[]): string {
  return lines.find((line) => line.end !== '')?.end ?? '\n';
}

/** Every line gets an end, so that the text ends with one. */
export function toText(lines: readonly FileLine[], lineEnd: string): string {
  return lines.map((line) => line.text + (line.end === '' ? lineEnd : line.end)).join('');
}
