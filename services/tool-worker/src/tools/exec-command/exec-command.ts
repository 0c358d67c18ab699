// exec-command.ts: runs a command in the machine's process host, so that it survives this process.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CallDetail, CallOutput } from '@holdfast/protocol';
import { toShortOutput, toUnknownOutput } from '../../call-outputs.ts';
import type { CommandEnvironment } from '../../command-environment.ts';
import type { ProcessHostClient, ProcessOutcome } from '../../process-host/client.ts';
import type { OutputKeeper } from '../../stored-output.ts';
import type { CallStop, Prepared, Tool, ToolRun, Traces } from '../../tool.ts';
import { toExitOutput, toLostOutput, type ExecResult } from './result.ts';
import { execCommandSpec, parseArguments, type ExecArguments } from './spec.ts';

/** Characters of a command that the person who approves reads. */
const questionLimit = 300;

export type ExecCommandOptions = {
  host: ProcessHostClient;
  environment: CommandEnvironment;
  keeper: OutputKeeper;
};

export function createExecCommand(options: ExecCommandOptions): Tool {
  return {
    spec: execCommandSpec,
    prepare: (call) => Promise.resolve(prepare(options, call)),
    resolve: (run, traces) => resolveOutcome(options, run, traces),
    discard: (key) => options.host.forget(key),
  };
}

function prepare(options: ExecCommandOptions, call: CallDetail): Prepared {
  const parsed = parseArguments(call.input);
  if (typeof parsed === 'string') return refuse(parsed);
  const cwd = resolve(call.context.cwd, parsed.workdir ?? '.');
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    return refuse(
      `exec_command failed for \`${parsed.cmd}\`: there is no folder ${cwd} on this machine; name an existing one as workdir`,
    );
  }
  return {
    kind: 'ready',
    question: `exec_command in ${cwd}: ${toOneLine(parsed.cmd)}`,
    evidence: null,
    run: (run) => runCommand(options, run, { parsed, cwd }),
  };
}

async function runCommand(
  options: ExecCommandOptions,
  run: ToolRun,
  { parsed, cwd }: { parsed: ExecArguments; cwd: string },
): Promise<CallOutput> {
  const { environment, host } = options;
  const env = parsed.login ? await environment.login : environment.plain;
  const spec = {
    key: run.key,
    command: parsed.shell ?? environment.shell,
    args: ['-c', parsed.cmd],
    cwd,
    env,
    timeoutMs: parsed.timeoutMs,
  };
  let outcome: ProcessOutcome;
  try {
    outcome = await host.run(spec, { onOutput: (text) => run.emit(text), signal: run.signal });
  } catch (error) {
    return toHostFailure(options, run, { parsed, error });
  }
  return toOutput(options, run, { parsed, outcome });
}

/** Without a host nothing can be asked, but what it has written before any start is there to be read. */
function toHostFailure(
  { host }: ExecCommandOptions,
  run: ToolRun,
  { parsed, error }: { parsed: ExecArguments; error: unknown },
): CallOutput {
  const reason = error instanceof Error ? error.message : String(error);
  if (host.mayHaveStarted(run.key)) return toUnknownOutput(`The command was started, but ${reason}.`);
  return toShortOutput('failed', `exec_command failed for \`${parsed.cmd}\`: ${reason}`);
}

async function resolveOutcome(
  options: ExecCommandOptions,
  run: ToolRun,
  traces: Traces,
): Promise<CallOutput | 'not-started'> {
  const outcome = await options.host.attach(run.key, {
    onOutput: (text) => run.emit(text),
    signal: run.signal,
  });
  if (outcome.state === 'unknown') {
    // The host notes a command before it starts it; only a restart of the system can lose the note.
    if (traces.sameKernelBoot) return 'not-started';
    return toUnknownOutput(
      'The machine was restarted while the command was about to start or ran; it does not run any more.',
    );
  }
  const parsed = parseArguments(run.call.input);
  if (typeof parsed === 'string') return toShortOutput('failed', parsed);
  return toOutput(options, run, { parsed, outcome });
}

function toOutput(
  { host, keeper }: ExecCommandOptions,
  run: ToolRun,
  { parsed, outcome }: { parsed: ExecArguments; outcome: ProcessOutcome },
): Promise<CallOutput> {
  const stop = run.signal.aborted ? { stop: run.signal.reason as CallStop } : {};
  const result: ExecResult = { key: run.key, folder: host.folderOf(run.key), arguments: parsed, ...stop };
  return outcome.state === 'exited'
    ? toExitOutput(result, outcome.exit, keeper)
    : toLostOutput(result, outcome, keeper);
}

function refuse(text: string): Prepared {
  return { kind: 'refused', output: toShortOutput('failed', text) };
}

function toOneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > questionLimit ? `${line.slice(0, questionLimit)}…` : line;
}
