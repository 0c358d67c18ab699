import { connect } from '../connection.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';
import { toOneLine } from '../view/call-text.ts';
import { toTable } from '../view/table.ts';

const titleLimit = 60;

export async function sessions(terminal: Terminal, request: { json: boolean }): Promise<ExitCode> {
  const { client, answer: list } = await connect(terminal, (first) => first.listSessions());
  if (request.json) return printJson(terminal, { sessions: list });
  const known = await client.listMachines();
  const names = new Map(known.map(({ machineId, name }) => [machineId, name]));
  const rows = list.map((session) => [
    session.sessionId,
    session.state,
    String(session.turns),
    names.get(session.settings.machineId) ?? session.settings.machineId,
    toTime(session.updatedAt),
    toOneLine(session.title, titleLimit),
  ]);
  const titles = ['SESSION', 'STATE', 'TURNS', 'MACHINE', 'ACTIVE', 'TITLE'];
  terminal.stdout.write(
    toTable(titles, rows, 'There are no sessions yet; start one with `holdfast exec PROMPT`.'),
  );
  return exitCodes.ok;
}

export async function machines(terminal: Terminal, request: { json: boolean }): Promise<ExitCode> {
  const { answer } = await connect(terminal, (first) => first.listMachines());
  if (request.json) return printJson(terminal, { machines: answer });
  const rows = answer.map((machine) => [
    machine.name,
    machine.kind,
    machine.online ? 'online' : 'offline',
    `${machine.capabilities.platform}/${machine.capabilities.arch}`,
    String(machine.tools.length),
    toTime(machine.lastSeenAt),
    machine.capabilities.workspace,
  ]);
  const titles = ['NAME', 'KIND', 'STATE', 'PLATFORM', 'TOOLS', 'SEEN', 'WORKSPACE'];
  terminal.stdout.write(
    toTable(titles, rows, 'There are no machines yet; add one with `holdfast worker start`.'),
  );
  return exitCodes.ok;
}

function printJson({ stdout }: Terminal, value: object): ExitCode {
  stdout.write(`${JSON.stringify(value)}\n`);
  return exitCodes.ok;
}

/** Minutes suffice to tell sessions apart; times are UTC, as in the events. */
function toTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)}`;
}
