import type { BlobStore, CallLog } from '@holdfast/agent-loop';
import { boundText, type CallDetail, type CallOutput } from '@holdfast/protocol';
import type { Logger } from '@holdfast/telemetry';
import { toBoundedLayout, toOutcomeSentence, toAnswerText, toUnknownText } from './call-text.ts';
import { createProgressLog } from './progress-log.ts';
import { isRepeatable, type FoundTool, type ToolCaller, type ToolOutcome } from './tool-caller.ts';

/** The part of the store that running a call needs. */
export type CallStore = Pick<CallLog, 'claimCall' | 'askApproval' | 'appendProgress' | 'finishCall'> &
  Pick<BlobStore, 'putBlob'>;

export type ExecuteTools = { tools: ToolCaller; store: CallStore; logger: Logger };

export type ExecuteOptions = ExecuteTools & {
  call: CallDetail;
  /** The newest fence; it may change while the call runs. */
  fence: () => number;
  signal: AbortSignal;
};

/** Calls the tool and says what came of it. @throws `signal.reason` after an abort, nothing else */
export async function executeCall(options: ExecuteOptions): Promise<CallOutput> {
  const { call, tools } = options;
  const found = tools.find(call.tool);
  if (found.kind === 'unknown') return toFailedOutput(`unsupported call: ${call.tool}`, 0);
  if (found.kind === 'server-away')
    return toFailedOutput(toOutcomeSentence(found.server, { kind: 'away', reason: found.reason }), 0);
  const input = parseArguments(call.input);
  if (typeof input === 'string') return toFailedOutput(input, 0);
  const progress = createProgress(options);
  const startedAt = performance.now();
  const outcome = await found.call({
    arguments: input,
    signal: options.signal,
    onProgress: (note) => progress.push(note),
  });
  const durationMs = performance.now() - startedAt;
  await progress.flushed();
  return toOutput(options, found, { outcome, durationMs });
}

/** For a call whose effect may or may not have happened. */
export function toUnknownOutput(evidence: string, durationMs: number): CallOutput {
  return { ...toFailedOutput(toUnknownText(evidence), durationMs), status: 'unknown' };
}

async function toOutput(
  options: ExecuteOptions,
  found: FoundTool & { kind: 'tool' },
  { outcome, durationMs }: { outcome: ToolOutcome; durationMs: number },
): Promise<CallOutput> {
  switch (outcome.kind) {
    case 'answered': {
      const text = toAnswerText(outcome.answer);
      const bounded = toBoundedLayout(text, { durationMs, style: options.call.context.outputStyle });
      const status = outcome.answer.failed ? 'failed' : 'ok';
      const output = { status, text: bounded.text, tokens: bounded.tokens, durationMs } as const;
      return bounded.cut ? { ...output, ...(await keepFull(options, text)) } : output;
    }
    case 'lost':
    case 'timed-out': {
      const sentence = toOutcomeSentence(found.server, outcome);
      return isRepeatable(found.spec.effects)
        ? toFailedOutput(`${sentence} The tool only reads; it may be called again.`, durationMs)
        : toUnknownOutput(sentence, durationMs);
    }
    case 'refused':
    case 'away':
    case 'needs-client':
      return toFailedOutput(toOutcomeSentence(found.server, outcome), durationMs);
  }
}

/** The result counts more than its full text: without the blob the bounded text still goes out. */
async function keepFull(
  { store, logger, call }: ExecuteOptions,
  text: string,
): Promise<Pick<CallOutput, 'full'>> {
  const mediaType = 'text/plain';
  try {
    const { digest, size } = await store.putBlob({ bytes: new TextEncoder().encode(text), mediaType });
    return { full: { digest, size, mediaType } };
  } catch (error) {
    logger.warn({ err: error, callId: call.callId }, 'the full output could not be kept');
    return {};
  }
}

function createProgress({ store, logger, call, fence }: ExecuteOptions) {
  const { sessionId, callId } = call;
  return createProgressLog({
    append: (note) => store.appendProgress({ sessionId, callId, fence: fence(), ...note }),
    onError: (error) => logger.warn({ err: error, callId }, 'a progress note could not be kept'),
  });
}

function toFailedOutput(text: string, durationMs: number): CallOutput {
  return { status: 'failed', text, tokens: boundText(text, { tokens: text.length }).tokens, durationMs };
}

/** @returns the arguments, or a sentence for the model; no text at all means no arguments */
function parseArguments(input: string): Record<string, unknown> | string {
  if (input.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(input);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
    return 'failed to parse function arguments: they must be one JSON object, for example {"query": "text"}';
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `failed to parse function arguments: ${reason}; send one JSON object, for example {"query": "text"}`;
  }
}
