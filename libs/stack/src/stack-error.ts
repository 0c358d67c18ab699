/** The codes of everything that can go wrong while the stack is found, started or asked. Match on these, never on text. */
export const stackCodes = {
  stateUnreadable: 'stack.state-unreadable',
  portOccupied: 'stack.port-occupied',
  binaryMissing: 'stack.binary-missing',
  startFailed: 'stack.start-failed',
} as const;

export type StackCode = (typeof stackCodes)[keyof typeof stackCodes];

/** A failure of the stack; `message` is one sentence for a person that says what to do next. */
export class StackError extends Error {
  readonly code: StackCode;

  constructor(code: StackCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StackError';
    this.code = code;
  }
}

/** The system's short reason (`EACCES`, `ENOENT`…) of a failed call, or its message when there is none. */
export function systemReason(error: unknown): string {
  if (error instanceof Error) {
    return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
  }
  return String(error);
}
