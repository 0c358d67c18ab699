/** Cuts a stream of bytes into lines; the cost of a long line grows with its length only. */
export class LineBuffer {
  readonly #limitBytes: number;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(options: { limitBytes: number }) {
    this.#limitBytes = options.limitBytes;
  }

  /** @returns the lines that this chunk completes, without line breaks. @throws RangeError when a line is longer than the limit */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#keep(chunk.subarray(start, end));
      lines.push(Buffer.concat(this.#parts).toString('utf8').replace(/\r$/, ''));
      this.#parts = [];
      this.#size = 0;
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
    return lines;
  }

  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > this.#limitBytes)
      throw new RangeError(`a line is longer than ${this.#limitBytes} bytes`);
    this.#parts.push(part);
  }
}
