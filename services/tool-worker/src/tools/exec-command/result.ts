// result.ts: how an ended command is told to the model.
import { hash } from 'node:crypto';
import type { CallOutput } from '@holdfast/protocol';
import { toShortOutput, toTokens, toUnknownOutput } from '../../call-outputs.ts';
import { measureOutput } from '../../process-host/output-files.ts';
import type { ProcessExit } from '../../process-host/protocol.ts';
import { readBounded, type OutputKeeper, type StoredOutput } from '../../stored-output.ts';
import type { CallStop } from '../../tool.ts';
import type { ExecArguments } from './spec.ts';

export type ExecResult = {
  key: string;
  folder: string;
  arguments: Pick<ExecArguments, 'cmd' | 'timeoutMs' | 'outputTokens'>;
  /** Why this worker had the command killed, when it had. */
  stop?: CallStop;
};

/** As `timeout(1)` reports it. */
const timedOutCode = 124;
const signalBase = 128;
const signalNumbers: Record<string, number> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
  SIGXCPU: 24,
  SIGXFSZ: 25,
  SIGSYS: 31,
};

/** Idempotent: the same end gives the same output, so a commit that is repeated after a restart says the same. */
export async function toExitOutput(
  result: ExecResult,
  exit: ProcessExit,
  keeper: OutputKeeper,
): Promise<CallOutput> {
  const { cmd } = result.arguments;
  const durationMs = Math.max(0, exit.endedAt - exit.startedAt);
  if (exit.end === 'not-started') {
    return toShortOutput(
      'failed',
      `exec_command failed for \`${cmd}\`: ${exit.detail ?? 'it could not be started'}`,
      durationMs,
    );
  }
  if (exit.end === 'killed' && result.stop !== 'shutdown') {
    const text = `Wall time: ${(durationMs / 1000).toFixed(1)} seconds\naborted by user`;
    return toShortOutput('aborted', text, durationMs);
  }
  const exitCode = toExitCode(exit);
  const stored = { folder: result.folder, bytes: exit.bytes, lines: exit.lines };
  const bounded = readBounded(stored, { tokens: result.arguments.outputTokens });
  const text = [
    `Chunk ID: ${toChunkId(result.key)}`,
    `Wall time: ${(durationMs / 1000).toFixed(4)} seconds`,
    `Process exited with code ${exitCode}`,
    `Original token count: ${bounded.originalTokens}`,
    'Output:',
    `${toNote(result, exit)}${bounded.text}`,
  ].join('\n');
  return {
    status: exitCode === 0 ? 'ok' : 'failed',
    text,
    tokens: toTokens(text),
    durationMs,
    exitCode,
    ...(bounded.cut ? { full: await keeper.keep(stored) } : {}),
  };
}

/** For a command whose process host died while it ran, or before it could say that it runs. */
export async function toLostOutput(
  result: ExecResult,
  lost: { startedAt: number },
  keeper: OutputKeeper,
): Promise<CallOutput> {
  const stored: StoredOutput = { folder: result.folder, ...measureOutput(result.folder) };
  const bounded = readBounded(stored, { tokens: result.arguments.outputTokens });
  const started = lost.startedAt > 0 ? `It was started at ${new Date(lost.startedAt).toISOString()}. ` : '';
  const printed = stored.bytes === 0 ? 'It had printed nothing.' : `It had printed:\n${bounded.text}`;
  const output = toUnknownOutput(
    `${started}The process that watched over the command died and the command was ended with it; how far it had come was not recorded. ${printed}`,
  );
  return { ...output, ...(bounded.cut ? { full: await keeper.keep(stored) } : {}) };
}

function toNote({ arguments: { timeoutMs } }: ExecResult, exit: ProcessExit): string {
  const trouble = exit.detail === undefined ? '' : `${exit.detail}\n`;
  switch (exit.end) {
    case 'timed-out':
      return `${trouble}command timed out after ${timeoutMs} milliseconds; it was killed with everything it had started\n`;
    case 'stopped':
    case 'killed':
      return `${trouble}command killed with everything it had started, because the tool worker of this machine was stopped\n`;
    case 'exited':
    case 'not-started':
      return trouble;
  }
}

function toExitCode(exit: ProcessExit): number {
  if (exit.end === 'timed-out') return timedOutCode;
  if (exit.code !== null) return exit.code;
  return signalBase + (signalNumbers[exit.signal ?? ''] ?? 0);
}

function toChunkId(key: string): string {
  return hash('sha256', key).slice(0, 6);
}
