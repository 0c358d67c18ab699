import { z } from 'zod';
import { readDisposableJsonFile, writeJsonFile } from './json-file.ts';
import { type StackCode, StackError, stackCodes } from './stack-error.ts';

const stackFileSchema = z.object({
  /** Process id of the supervisor. */
  pid: z.number().int(),
  /** Base URL of the session API; null when the plan has no such role. */
  sessionApiUrl: z.string().nullable(),
  /** Where each role listens, external servers included, without credentials. */
  addresses: z.record(z.string(), z.string()),
  temporalNamespace: z.string(),
  /** Where the credentials are. */
  secretsFile: z.string(),
});

/** What a running stack says about itself to other programs; no secrets in it. */
export type StackFile = z.infer<typeof stackFileSchema>;

/** The file, or null while no stack is up. */
export const readStackFile = (file: string): StackFile | null =>
  readDisposableJsonFile(file, stackFileSchema);

const failureSchema = z.object({ code: z.string(), message: z.string() });

/** Why the last start failed; null once another one was begun. */
export function readFailure(file: string): StackError | null {
  const failure = readDisposableJsonFile(file, failureSchema);
  return failure === null ? null : new StackError(toStackCode(failure.code), failure.message);
}

export const writeFailure = (file: string, { code, message }: StackError): void =>
  writeJsonFile(file, { code, message });

/** The code as this version knows it; one it does not know counts as a failed start. */
export const toStackCode = (code: string): StackCode =>
  Object.values(stackCodes).find((known) => known === code) ?? stackCodes.startFailed;
