// write-stdin.ts: types into a command in the background, or waits for it.
// What is typed is typed once, however often the call is taken up: the process host notes it by the key of the call.
import type { CallDetail, CallOutput } from '@holdfast/protocol';
import { toShortOutput } from '../../call-outputs.ts';
import type { ProcessHostClient } from '../../process-host/client.ts';
import type { OutputKeeper } from '../../stored-output.ts';
import type { Prepared, Tool, ToolRun, Traces } from '../../tool.ts';
import { toAbortedOutput, toReadOutput } from '../exec-command/result.ts';
import { parseArguments, writeStdinSpec, type WriteArguments } from './spec.ts';

/** Characters of an input that the person who approves reads. */
const questionLimit = 300;

export type WriteStdinOptions = { host: ProcessHostClient; keeper: OutputKeeper };

/** When the call began, in milliseconds since the epoch. */
type Evidence = { since: number };

export function createWriteStdin(options: WriteStdinOptions): Tool {
  return {
    spec: writeStdinSpec,
    prepare: (call) => Promise.resolve(prepare(options, call)),
    resolve: (run, traces) => resolveOutcome(options, run, traces),
    discard: (key, { sealed }) => options.host.settle(key, { unread: sealed }),
  };
}

function prepare(options: WriteStdinOptions, call: CallDetail): Prepared {
  const parsed = parseArguments(call.input);
  if (typeof parsed === 'string') return { kind: 'refused', output: toShortOutput('failed', parsed) };
  const evidence: Evidence = { since: performance.timeOrigin + performance.now() };
  return {
    kind: 'ready',
    question: `write_stdin to session ${parsed.number}: ${JSON.stringify(parsed.input).slice(0, questionLimit)}`,
    evidence,
    effects: parsed.input === '' ? 'read' : 'execute',
    run: (run) => interact(options, run, { parsed, ...evidence }),
  };
}

/** Asks the same again: the host does nothing twice for one call. */
async function resolveOutcome(options: WriteStdinOptions, run: ToolRun, traces: Traces): Promise<CallOutput> {
  const parsed = parseArguments(run.call.input);
  if (typeof parsed === 'string') return toShortOutput('failed', parsed);
  const { since } = traces.evidence as Evidence;
  return interact(options, run, { parsed, since });
}

async function interact(
  { host, keeper }: WriteStdinOptions,
  run: ToolRun,
  { parsed, since }: { parsed: WriteArguments; since: number },
): Promise<CallOutput> {
  const { number, input, yieldMs, outputTokens } = parsed;
  const request = { owner: run.call.sessionId, number, call: run.key, input };
  const wait = {
    limitMs: yieldMs,
    signal: run.signal,
    onOutput: (text: string) => run.emit(text),
  };
  const outcome = await host.interact(request, wait);
  switch (outcome.kind) {
    case 'no-terminal':
      return refuse(`Unknown process id ${number}`);
    case 'no-input':
      return refuse(
        'stdin is closed for this session; start the command again with tty: true to type into it',
      );
    case 'stopped':
      return toAbortedOutput(performance.timeOrigin + performance.now() - since);
    case 'read': {
      const { outputStyle } = run.call.context;
      const folder = host.folderOf(outcome.reading.key);
      const result = { key: run.key, folder, outputStyle, outputTokens, since, input };
      return toReadOutput(result, outcome.reading, keeper);
    }
  }
}

function refuse(reason: string): CallOutput {
  return toShortOutput('failed', `write_stdin failed: ${reason}`);
}
