// exec-command.ts: runs a command in the machine's process host, so that it survives this process.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CallDetail, CallOutput } from '@holdfast/protocol';
import { toShortOutput, toUnknownOutput } from '../../call-outputs.ts';
import type { CommandEnvironment } from '../../command-environment.ts';
import type { CallOutcome, ProcessHostClient, ProcessWatch } from '../../process-host/client.ts';
import type { OutputKeeper } from '../../stored-output.ts';
import type { CallStop, Prepared, Tool, ToolRun, Traces } from '../../tool.ts';
import { toExitOutput, toLostOutput, toReadOutput } from './result.ts';
import { execCommandSpec, parseArguments, type ExecArguments } from './spec.ts';

/** As Codex has it. */
const terminalSize = { columns: 80, rows: 24 };
const noNotices =
  'exec_command failed: notify_on_exit needs a session that outlives this process; leave it out and wait with write_stdin';
/** Characters of a command that the person who approves reads. */
const questionLimit = 300;

export type ExecCommandOptions = {
  host: ProcessHostClient;
  environment: CommandEnvironment;
  keeper: OutputKeeper;
  /** True when a session can be told of the end of a command. */
  canNotify: boolean;
};

export function createExecCommand(options: ExecCommandOptions): Tool {
  return {
    spec: execCommandSpec,
    prepare: (call) => Promise.resolve(prepare(options, call)),
    resolve: (run, traces) => resolveOutcome(options, run, traces),
    discard: (key, { sealed }) => options.host.settle(key, { unread: sealed }),
  };
}

function prepare(options: ExecCommandOptions, call: CallDetail): Prepared {
  const parsed = parseArguments(call.input);
  if (typeof parsed === 'string') return refuse(parsed);
  if (parsed.notify && !options.canNotify) return refuse(noNotices);
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
  const env = parsed.login ? await environment.login() : environment.plain;
  const spec = {
    key: run.key,
    command: parsed.shell ?? environment.shell,
    args: ['-c', parsed.cmd],
    cwd,
    env,
    ...(parsed.timeoutMs === undefined ? {} : { timeoutMs: parsed.timeoutMs }),
    ...(parsed.tty ? { tty: terminalSize } : {}),
  };
  let outcome: CallOutcome;
  try {
    outcome = await host.run(spec, toWatch(run, parsed));
  } catch (error) {
    return toHostFailure(options, run, { parsed, error });
  }
  return toOutput(options, run, { parsed, outcome });
}

function toWatch(run: ToolRun, { cmd, yieldMs, notify }: ExecArguments): ProcessWatch {
  const { sessionId: owner } = run.call;
  return {
    onOutput: (text) => run.emit(text),
    signal: run.signal,
    background: { afterMs: yieldMs, owner, command: cmd, notify },
  };
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
  const parsed = parseArguments(run.call.input);
  if (typeof parsed === 'string') return toShortOutput('failed', parsed);
  const outcome = await options.host.attach(run.key, toWatch(run, parsed));
  if (outcome.state === 'unknown') {
    // The host notes a command before it starts it; only a restart of the system can lose the note.
    if (traces.sameKernelBoot) return 'not-started';
    return toUnknownOutput(
      'The machine was restarted while the command was about to start or ran; it does not run any more.',
    );
  }
  return toOutput(options, run, { parsed, outcome });
}

function toOutput(
  { host, keeper }: ExecCommandOptions,
  run: ToolRun,
  { parsed, outcome }: { parsed: ExecArguments; outcome: CallOutcome },
): Promise<CallOutput> {
  const stop = run.signal.aborted ? { stop: run.signal.reason as CallStop } : {};
  const { outputStyle } = run.call.context;
  const result = { key: run.key, folder: host.folderOf(run.key), outputStyle, ...parsed, ...stop };
  switch (outcome.state) {
    case 'exited':
      return toExitOutput(result, outcome.exit, keeper);
    case 'lost':
      return toLostOutput(result, outcome, keeper);
    case 'read': {
      const { reading } = outcome;
      const since = reading.state.state === 'exited' ? reading.state.exit.startedAt : reading.state.startedAt;
      return toReadOutput({ ...result, since }, reading, keeper);
    }
  }
}

function refuse(text: string): Prepared {
  return { kind: 'refused', output: toShortOutput('failed', text) };
}

function toOneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > questionLimit ? `${line.slice(0, questionLimit)}…` : line;
}
