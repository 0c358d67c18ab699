// exit-codes.ts: how the CLI ends. Scripts rely on these numbers.

export const exitCodes = {
  ok: 0,
  /** The turn failed, or Holdfast could not do what was asked. */
  failed: 1,
  /** The command line or its input is wrong; nothing was started. */
  usage: 2,
  /** The chosen machine is offline; nothing was started. */
  machineOffline: 4,
  /** The turn was interrupted, by Ctrl-C or by somebody else. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends the command with one sentence for the person. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

export function usageError(message: string): CliError {
  return new CliError(exitCodes.usage, message);
}

/** What a thrown value means for the shell and for the person. Failures are told apart by their code, never by their text. */
export function toExit(error: unknown): { exitCode: ExitCode; message: string } {
  if (error instanceof CliError) return { exitCode: error.exitCode, message: error.message };
  if (!(error instanceof Error)) return { exitCode: exitCodes.failed, message: String(error) };
  // What a library says may quote lines of a file.
  return { exitCode: toExitCode(error), message: error.message.replaceAll(/\s*\n\s*/g, ' ') };
}

function toExitCode(error: Error): ExitCode {
  if (error.name === 'ConfigError') return exitCodes.usage;
  const code = 'code' in error ? error.code : undefined;
  if (code === 'machine.offline') return exitCodes.machineOffline;
  if (code === 'input.invalid') return exitCodes.usage;
  return 'class' in error && error.class === 'usage' ? exitCodes.usage : exitCodes.failed;
}
