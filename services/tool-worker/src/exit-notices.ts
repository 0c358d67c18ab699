// exit-notices.ts: wakes a session once when a command has ended in the background that it wants to hear of.
// N1  The notice is an input under an id made from the command's key, so the store takes it once, however often it is sent.
// N2  The process host forgets that a notice is wanted only when the store has it: neither a restart nor an outage loses one.
import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionLog } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import type { Logger } from '@holdfast/telemetry';
import type { ProcessHostClient } from './process-host/client.ts';
import type { TerminalStatus } from './process-host/protocol.ts';
import { toExitCode } from './tools/exec-command/exit-code.ts';

/** A call that waits for the command tells its end itself, and needs this long to say so. */
const politeMs = 1_000;
const retryMs = 5_000;
const commandLimit = 200;

export type ExitNoticesOptions = {
  host: ProcessHostClient;
  addInput: SessionLog['addInput'];
  logger: Logger;
};

/** Sends what is due now and from now on; a steer of the running turn, or the prompt of a new one. Returns how to end that. */
export function startExitNotices(options: ExitNoticesOptions): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  let work = Promise.resolve();
  options.host.followEnds(() => {
    work = work.then(() => sendPatiently(options, signal));
  });
  return () => stop.abort();
}

/** Never rejects. */
async function sendPatiently(options: ExitNoticesOptions, signal: AbortSignal): Promise<void> {
  await pause(politeMs, signal);
  while (!signal.aborted) {
    try {
      if ((await sendNotices(options)) === 'all') return;
    } catch (error) {
      options.logger.warn({ err: error }, 'the end of a background command could not be told yet');
    }
    await pause(retryMs, signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
}

/** `some`: a call has read the end of a command and may or may not come to tell it. */
async function sendNotices({ host, addInput }: ExitNoticesOptions): Promise<'all' | 'some'> {
  if (!host.mayHaveTerminals()) return 'all';
  let sent: 'all' | 'some' = 'all';
  for (const terminal of await host.terminals()) {
    if (!terminal.notify || terminal.state.state === 'running') continue;
    if (terminal.beingTold) {
      sent = 'some';
      continue;
    }
    const input = { inputId: toInputId(terminal.key), kind: 'steer', text: toNotice(terminal) } as const;
    try {
      await addInput({ sessionId: terminal.owner, input });
    } catch (error) {
      if (!isOver(error)) throw error;
    }
    await host.setNotified(terminal);
  }
  return sent;
}

/** Nobody is there any more who could be told. */
function isOver(error: unknown): boolean {
  return error instanceof Failure && (error.code === 'session.closed' || error.code === 'session.unknown');
}

function toInputId(key: string): string {
  return `exit-${hash('sha256', key).slice(0, 32)}`;
}

function toNotice({ number, command, state }: TerminalStatus): string {
  const how = state.state === 'exited' ? `has exited with code ${toExitCode(state.exit)}` : 'is gone';
  const name = command.length > commandLimit ? `${command.slice(0, commandLimit)}…` : command;
  return `The background command with session ID ${number} ${how}: ${name}\nRead the rest of its output with write_stdin.`;
}
