import type { CallDetail, CallOutput, CallStatus } from '@holdfast/protocol';

const bytesPerToken = 4;

/** An output that is short by nature: a refusal, a note of what is not known. */
export function toShortOutput(status: CallStatus, text: string, durationMs = 0): CallOutput {
  return { status, text, tokens: toTokens(text), durationMs };
}

export function toTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/** @param known what is known of the call, in sentences */
export function toUnknownOutput(known: string, durationMs = 0): CallOutput {
  const text = `It is not known whether this call took effect; look before doing it again. ${known}`;
  return toShortOutput('unknown', text, durationMs);
}

/** Files are not what the session last saw of them. */
export function toConflictOutput({ tool }: Pick<CallDetail, 'tool'>, paths: readonly string[]): CallOutput {
  const text = `${tool} changed nothing: ${paths.join(', ')} changed outside since you last read or wrote it; read it again, then decide.`;
  return toShortOutput('failed', text);
}
