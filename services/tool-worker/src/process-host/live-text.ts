import { StringDecoder } from 'node:string_decoder';

/** Live output comes at most this often. */
const intervalMs = 20;
/** Of more than this within one interval, the middle is left out: live output may be lossy, the record is not. */
const limit = 32 * 1024;

/** Gathers output for people who watch: whole characters, the first piece at once, later ones together. */
export class LiveText {
  readonly #send: (text: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #pending = '';
  #sentAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  append(chunk: Buffer): void {
    this.#pending += this.#decoder.write(chunk);
    if (this.#pending.length > 2 * limit) this.#pending = toEnds(this.#pending);
    if (this.#timer !== undefined) return;
    const waitMs = this.#sentAt + intervalMs - performance.now();
    if (waitMs <= 0) this.#flush();
    else this.#timer = setTimeout(() => this.#flush(), waitMs);
  }

  end(): void {
    this.#pending += this.#decoder.end();
    this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending === '') return;
    this.#send(this.#pending.length > limit ? toEnds(this.#pending) : this.#pending);
    this.#pending = '';
    this.#sentAt = performance.now();
  }
}

function toEnds(text: string): string {
  return `${text.slice(0, limit / 2)}\n… output skipped …\n${text.slice(-limit / 2)}`;
}
