// terminals.ts: the commands that run in the background of a session.
import type { BackgroundTerminal } from '@holdfast/protocol';
import { connect } from '../connection.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { note, type Terminal } from '../terminal.ts';
import { toOneLine } from '../view/call-text.ts';
import { toTable } from '../view/table.ts';

const commandLimit = 60;

export async function listTerminals(
  terminal: Terminal,
  { sessionId, json }: { sessionId: string; json: boolean },
): Promise<ExitCode> {
  const { answer } = await connect(terminal, (first) => first.open(sessionId).listTerminals());
  terminal.stdout.write(json ? `${JSON.stringify({ terminals: answer })}\n` : toTerminalTable(answer));
  return exitCodes.ok;
}

/** One that has ended already is not an error. */
export async function killTerminal(
  terminal: Terminal,
  { sessionId, id }: { sessionId: string; id: number },
): Promise<ExitCode> {
  const { answer } = await connect(terminal, (first) => first.open(sessionId).killTerminal(id));
  note(terminal, `${answer.state === 'killed' ? 'Ended' : 'Had ended already:'} ${toName(answer)}.`);
  return exitCodes.ok;
}

export async function cleanTerminals(
  terminal: Terminal,
  { sessionId }: { sessionId: string },
): Promise<ExitCode> {
  const { answer } = await connect(terminal, (first) => first.open(sessionId).cleanTerminals());
  if (answer.length === 0) note(terminal, 'Nothing runs in the background of this session.');
  for (const ended of answer) note(terminal, `Ended ${toName(ended)}.`);
  return exitCodes.ok;
}

export function toTerminalTable(terminals: readonly BackgroundTerminal[]): string {
  const rows = terminals.map((each) => [
    String(each.id),
    each.exitCode === undefined ? each.state : `${each.state} ${each.exitCode}`,
    `${each.startedAt.slice(0, 10)} ${each.startedAt.slice(11, 19)}`,
    toOneLine(each.command, commandLimit),
  ]);
  const empty = 'Nothing runs in the background of this session.';
  return toTable(['ID', 'STATE', 'SINCE', 'COMMAND'], rows, empty);
}

function toName({ id, command }: BackgroundTerminal): string {
  return `${id}: ${toOneLine(command, commandLimit)}`;
}
