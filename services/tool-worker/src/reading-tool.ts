// reading-tool.ts: a tool that only looks. Nothing it does can be done twice, so a call that may have started simply runs again.
import { Failure } from '@holdfast/failures';
import type { CallContext, CallOutput } from '@holdfast/protocol';
import type { FunctionTool } from '@holdfast/tool-spec';
import { toShortOutput, toTokens } from './call-outputs.ts';
import type { Tool, ToolRun } from './tool.ts';

/** What providers count for an image, about. */
const imageTokens = 1_844;

/** What the model asked for cannot be done; the message says why and what to do instead. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** `text` is bounded by the tool. */
export type Reading = Omit<CallOutput, 'status' | 'tokens' | 'durationMs'>;

export type Reader<Arguments> = (
  given: Arguments,
  context: CallContext,
  run: Pick<ToolRun, 'signal'>,
) => Promise<Reading>;

/**
 * @param read may throw a `ToolError`, and errors of the file system: both become text for the model; after an abort it may throw
 * anything. A `Failure` means that this worker failed and is tried again by its class; anything else that the tool is broken, which ends
 * the turn.
 * @param toPath the absolute path of the file whose text the model will read, for tools that read one
 */
export function createReadingTool<Arguments>(
  declared: FunctionTool<Arguments>,
  read: Reader<Arguments>,
  toPath?: (given: Arguments, context: CallContext) => string,
): Tool {
  const { spec } = declared;
  return {
    spec,
    prepare: (call) => {
      const given = declared.readArguments(call.input);
      if (given.kind === 'refused')
        return Promise.resolve({ kind: 'refused', output: toShortOutput('failed', given.text) });
      const answer = (run: ToolRun) => readTimed(run, spec.name, () => read(given.value, call.context, run));
      const reads = toPath ? { reads: toPath(given.value, call.context) } : {};
      return Promise.resolve({ kind: 'ready', question: spec.name, evidence: null, ...reads, run: answer });
    },
    resolve: () => Promise.resolve('not-started'),
  };
}

async function readTimed(run: ToolRun, name: string, read: () => Promise<Reading>): Promise<CallOutput> {
  const startedAt = performance.now();
  try {
    const reading = await read();
    const durationMs = performance.now() - startedAt;
    const tokens = toTokens(reading.text) + (reading.image ? imageTokens : 0);
    return { status: 'ok', tokens, durationMs, ...reading };
  } catch (error) {
    const durationMs = performance.now() - startedAt;
    // Looking again costs nothing, so the next process of this machine does.
    if (run.signal.aborted && run.signal.reason === 'shutdown') throw error;
    if (run.signal.aborted)
      return toShortOutput('aborted', `aborted by user after ${(durationMs / 1000).toFixed(1)}s`, durationMs);
    return toShortOutput('failed', `${name} failed: ${toSentence(error, name)}`, durationMs);
  }
}

/** @throws Failure what was classified already, and tool.broken for an error that nobody expects */
function toSentence(error: unknown, name: string): string {
  if (error instanceof ToolError) return error.message;
  if (error instanceof Error && 'code' in error && isOfFileSystem(error)) return error.message;
  throw error instanceof Failure ? error : new Failure('tool.broken', { detail: name, cause: error });
}

function isOfFileSystem(error: Error & { code: unknown }): boolean {
  return 'syscall' in error || String(error.code).startsWith('ERR_FS_');
}
