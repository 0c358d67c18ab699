// background-terminals.ts: what people and the end of a session do with commands that went to the background.
import type { BackgroundTerminal, SessionId, TerminalReply, TerminalRequest } from '@holdfast/protocol';
import type { ProcessHostClient } from './process-host/client.ts';
import type { TerminalStatus } from './process-host/protocol.ts';
import { toExitCode } from './tools/exec-command/exit-code.ts';

/** From SIGTERM to SIGKILL when a person ends a command: time to tidy up. */
const graceMs = 1_000;

export type BackgroundTerminals = {
  /** @throws Error when there is no process host to be had */
  answer(request: TerminalRequest): Promise<TerminalReply>;
  /** Sessions that have any. */
  owners(): Promise<SessionId[]>;
};

export function createBackgroundTerminals(host: ProcessHostClient): BackgroundTerminals {
  // A host is not started to be asked for nothing.
  const list = async () => (host.mayHaveTerminals() ? host.terminals() : []);
  const listOf = async (request: TerminalRequest) =>
    (await list()).filter(
      ({ owner, number }) => owner === request.sessionId && (request.op !== 'kill' || number === request.id),
    );
  return {
    owners: async () => [...new Set((await list()).map(({ owner }) => owner))],
    answer: async (request) => {
      const asked = await listOf(request);
      if (request.op === 'list') return { terminals: asked.map(toTerminal) };
      if (request.op === 'close') {
        await Promise.all(asked.map(({ key }) => host.forget(key)));
        return { terminals: [] };
      }
      const running = asked.filter(({ state }) => state.state === 'running').map(({ key }) => key);
      await Promise.all(running.map((key) => host.kill(key, graceMs)));
      const ended = await listOf(request);
      const about = request.op === 'kill' ? ended : ended.filter(({ key }) => running.includes(key));
      return { terminals: about.map(toTerminal) };
    },
  };
}

function toTerminal({ number: id, command, tty, state }: TerminalStatus): BackgroundTerminal {
  switch (state.state) {
    case 'exited': {
      const startedAt = toTime(state.exit.startedAt);
      const how = state.exit.end === 'exited' ? 'exited' : 'killed';
      return { id, command, tty, startedAt, state: how, exitCode: toExitCode(state.exit) };
    }
    case 'running':
    case 'lost':
      return { id, command, tty, startedAt: toTime(state.startedAt), state: state.state };
    case 'unknown':
      return { id, command, tty, startedAt: toTime(0), state: 'lost' };
  }
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
