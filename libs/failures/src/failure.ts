import { failureTable, type FailureClass, type FailureCode } from './table.ts';

/** A classified failure: the only error that crosses a boundary of Holdfast. `detail` is for the person, too. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: FailureCode;
  /** How long the other side asked us to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly detail: string | undefined;

  constructor(code: FailureCode, options: { detail?: string; retryAfterMs?: number; cause?: unknown } = {}) {
    const text = failureTable[code].message;
    super(options.detail ? `${text} (${options.detail})` : text, { cause: options.cause });
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.detail = options.detail;
  }

  get class(): FailureClass {
    return failureTable[this.code].class;
  }
}

/** A failure as it travels: `{code, message}`. */
export function toNotice(error: unknown): { code: string; message: string } {
  if (error instanceof Failure) return { code: error.code, message: error.message };
  return { code: 'internal.unexpected', message: failureTable['internal.unexpected'].message };
}
