// result.ts: how a command that has ended, or goes on in the background, is told to the model.
// The same end and the same reading give the same output, so a commit that is repeated after a restart says the same.
import { hash } from 'node:crypto';
import { toOutputBound, type CallOutput, type OutputStyle } from '@holdfast/protocol';
import { toShortOutput, toTokens, toUnknownOutput } from '../../call-outputs.ts';
import { measureOutput } from '../../process-host/output-files.ts';
import type { ProcessExit, Reading } from '../../process-host/protocol.ts';
import { readBounded, type OutputKeeper, type StoredOutput } from '../../stored-output.ts';
import type { CallStop } from '../../tool.ts';
import { toExitCode } from './exit-code.ts';

export type ExecResult = {
  /** Of the call. */
  key: string;
  /** Where the output of the command is. */
  folder: string;
  outputTokens: number;
  outputStyle?: OutputStyle | undefined;
  timeoutMs?: number;
  /** Why this worker had the command killed, when it had. */
  stop?: CallStop;
};

/** The end of a command within the call that started it. */
export async function toExitOutput(
  result: ExecResult & { cmd: string },
  exit: ProcessExit,
  keeper: OutputKeeper,
): Promise<CallOutput> {
  const wallMs = Math.max(0, exit.endedAt - exit.startedAt);
  if (exit.end === 'not-started') {
    const reason = exit.detail ?? 'it could not be started';
    return toShortOutput('failed', `exec_command failed for \`${result.cmd}\`: ${reason}`, wallMs);
  }
  if (exit.end === 'killed' && result.stop !== 'shutdown') return toAbortedOutput(wallMs);
  const stored = { folder: result.folder, start: 0, end: exit.bytes, lines: exit.lines };
  return toEnded(result, { exit, stored, wallMs }, keeper);
}

export function toAbortedOutput(wallMs: number): CallOutput {
  return toShortOutput(
    'aborted',
    `Wall time: ${(wallMs / 1000).toFixed(1)} seconds\naborted by user`,
    wallMs,
  );
}

export type ReadResult = ExecResult & {
  /** When the call began, in milliseconds since the epoch. */
  since: number;
  /** What the call typed. */
  input?: string;
};

/** What a call has read of a command in the background. */
export async function toReadOutput(
  result: ReadResult,
  { state, start, end, number, at }: Reading,
  keeper: OutputKeeper,
): Promise<CallOutput> {
  const stored = { folder: result.folder, start, end };
  const wallMs = Math.max(0, at - result.since);
  switch (state.state) {
    case 'exited':
      return toEnded(result, { exit: state.exit, stored, wallMs }, keeper);
    case 'running': {
      const line = `Process running with session ID ${number}`;
      return { status: 'ok', ...(await toLayout(result, { line, note: '', stored, wallMs }, keeper)) };
    }
    case 'lost': {
      const line = `Process with session ID ${number} is gone: the process that watched over it died and the command was ended with it; how far it had come${result.input ? ', and whether it took the input,' : ''} was not recorded`;
      return { status: 'failed', ...(await toLayout(result, { line, note: '', stored, wallMs }, keeper)) };
    }
  }
}

/** For a command whose process host died while its call waited, or before it could say that it runs. */
export async function toLostOutput(
  result: ExecResult,
  lost: { startedAt: number },
  keeper: OutputKeeper,
): Promise<CallOutput> {
  const { bytes, lines } = measureOutput(result.folder);
  const stored: StoredOutput = { folder: result.folder, start: 0, end: bytes, lines };
  const bounded = readBounded(stored, toOutputBound(result.outputStyle, result.outputTokens));
  const started = lost.startedAt > 0 ? `It was started at ${new Date(lost.startedAt).toISOString()}. ` : '';
  const printed = bytes === 0 ? 'It had printed nothing.' : `It had printed:\n${bounded.text}`;
  const output = toUnknownOutput(
    `${started}The process that watched over the command died and the command was ended with it; how far it had come was not recorded. ${printed}`,
  );
  return { ...output, ...(bounded.cut ? { full: await keeper.keep(stored) } : {}) };
}

async function toEnded(
  result: ExecResult,
  { exit, stored, wallMs }: { exit: ProcessExit; stored: StoredOutput; wallMs: number },
  keeper: OutputKeeper,
): Promise<CallOutput> {
  const exitCode = toExitCode(exit);
  const line = `Process exited with code ${exitCode}`;
  const layout = await toLayout(result, { line, note: toNote(result, exit), stored, wallMs }, keeper);
  return { status: exitCode === 0 ? 'ok' : 'failed', ...layout, exitCode };
}

/** The layout that models know from Codex. */
async function toLayout(
  { key, outputStyle, outputTokens }: ExecResult,
  { line, note, stored, wallMs }: { line: string; note: string; stored: StoredOutput; wallMs: number },
  keeper: OutputKeeper,
): Promise<Omit<CallOutput, 'status'>> {
  const bounded = readBounded(stored, toOutputBound(outputStyle, outputTokens));
  const text = [
    `Chunk ID: ${toChunkId(key)}`,
    `Wall time: ${(wallMs / 1000).toFixed(4)} seconds`,
    line,
    `Original token count: ${bounded.originalTokens}`,
    'Output:',
    `${note}${bounded.text}`,
  ].join('\n');
  return {
    text,
    tokens: toTokens(text),
    durationMs: wallMs,
    ...(bounded.cut ? { full: await keeper.keep(stored) } : {}),
  };
}

function toNote({ timeoutMs, stop }: ExecResult, exit: ProcessExit): string {
  const trouble = exit.detail === undefined ? '' : `${exit.detail}\n`;
  const all = 'it was killed with everything it had started';
  const killed = `${trouble}command killed with everything it had started, because`;
  switch (exit.end) {
    case 'timed-out':
      return timeoutMs === undefined
        ? `${trouble}command ran into its time limit; ${all}\n`
        : `${trouble}command timed out after ${timeoutMs} milliseconds; ${all}\n`;
    case 'killed':
      if (stop === undefined) return `${killed} a person ended it\n`;
      return `${killed} the tool worker of this machine was stopped\n`;
    case 'stopped':
      return `${killed} the tool worker of this machine was stopped\n`;
    case 'exited':
    case 'not-started':
      return trouble;
  }
}

function toChunkId(key: string): string {
  return hash('sha256', key).slice(0, 6);
}
