import { readStatus, stopStack, tailLogs, type ProcessStatus } from '@holdfast/stack';
import { CliError, exitCodes, type ExitCode } from '../exit-codes.ts';
import { bringUp, toPaths } from '../stack-start.ts';
import { note, type Terminal } from '../terminal.ts';
import { toTable } from '../view/table.ts';

/** Idempotent: a stack that is up is found, not changed. */
export async function up(terminal: Terminal, request: { split: boolean; json: boolean }): Promise<ExitCode> {
  const info = await bringUp(terminal, { split: request.split });
  const { processes } = await readStatus(toPaths(terminal));
  if (request.json) {
    const { sessionApiUrl, addresses, started } = info;
    terminal.stdout.write(
      `${JSON.stringify({ started, sessionApiUrl, addresses, processes: processes.map(toRow) })}\n`,
    );
    return exitCodes.ok;
  }
  note(terminal, info.started ? 'The stack is up.' : 'The stack was up already.');
  terminal.stdout.write(`${info.sessionApiUrl ?? ''}\n`);
  return exitCodes.ok;
}

export async function down(terminal: Terminal): Promise<ExitCode> {
  const { stopped } = await stopStack({ paths: toPaths(terminal) });
  note(terminal, stopped ? 'The stack is down; its data stays.' : 'The stack was not up.');
  return exitCodes.ok;
}

/** Exit code 0 also for a stack that is down: that is an answer. */
export async function status(terminal: Terminal, request: { json: boolean }): Promise<ExitCode> {
  const { state, processes } = await readStatus(toPaths(terminal));
  if (request.json) {
    terminal.stdout.write(`${JSON.stringify({ state, processes: processes.map(toRow) })}\n`);
    return exitCodes.ok;
  }
  const rows = processes.map((row) => [
    row.role,
    row.health,
    row.pid === null ? '-' : String(row.pid),
    row.address ?? '-',
    row.rssMb === null ? '-' : `${row.rssMb} MB`,
    String(row.restarts),
  ]);
  const titles = ['ROLE', 'HEALTH', 'PID', 'ADDRESS', 'MEMORY', 'RESTARTS'];
  terminal.stdout.write(toTable(titles, rows, `The stack is ${state}; start it with \`holdfast up\`.`));
  return exitCodes.ok;
}

function toRow({ role, pid, address, health, rssMb, restarts }: ProcessStatus): object {
  return { role, pid, address, health, rssMb, restarts };
}

export async function logs(
  terminal: Terminal,
  request: { role: string | undefined; follow: boolean },
): Promise<ExitCode> {
  const left = new AbortController();
  const stopListening = terminal.onInterrupt(() => left.abort());
  const lines = { shown: 0 };
  const { role, follow } = request;
  try {
    const tail = tailLogs(toPaths(terminal), {
      follow,
      signal: left.signal,
      ...(role === undefined ? {} : { role }),
    });
    for await (const { process, line } of tail) {
      lines.shown += 1;
      terminal.stdout.write(role === undefined ? `${process} | ${line}\n` : `${line}\n`);
    }
  } finally {
    stopListening();
  }
  if (lines.shown > 0 || follow) return exitCodes.ok;
  if (role === undefined)
    throw new CliError(exitCodes.failed, 'There are no logs yet; start the stack with `holdfast up`.');
  const known = (await readStatus(toPaths(terminal))).processes.map((row) => row.role).join(', ');
  throw new CliError(
    exitCodes.usage,
    `There is no log of ${role}${known === '' ? '' : `; roles: ${known}`}.`,
  );
}
