// main.ts: the `holdfast` program: gives a command its terminal and turns its end into an exit code.
// The environment is read here and nowhere else in the CLI.
import { resolve } from 'node:path';
import type { Parsed, Request } from './command-line.ts';
import { parseExecArguments } from './exec-arguments.ts';
import { toExit, type ExitCode } from './exit-codes.ts';
import { createProcessTerminal } from './process-terminal.ts';
import type { Terminal } from './terminal.ts';

const version = '0.1.0';

async function run(terminal: Terminal, request: Request): Promise<ExitCode> {
  switch (request.command) {
    case 'exec':
      return (await import('./commands/exec.ts')).exec(terminal, request);
    case 'resume':
      return (await import('./commands/resume.ts')).resume(terminal, request);
    case 'attach':
      return (await import('./commands/attach.ts')).attach(terminal, request);
    case 'interrupt':
      return (await import('./commands/answers.ts')).interrupt(terminal, request);
    case 'approve':
      return (await import('./commands/answers.ts')).approve(terminal, request);
    case 'answer':
      return (await import('./commands/answers.ts')).answer(terminal, request);
    case 'events':
      return (await import('./commands/events.ts')).events(terminal, request);
    case 'ps':
      return (await import('./commands/terminals.ts')).listTerminals(terminal, request);
    case 'kill':
      return (await import('./commands/terminals.ts')).killTerminal(terminal, request);
    case 'clean':
      return (await import('./commands/terminals.ts')).cleanTerminals(terminal, request);
    case 'undo':
      return (await import('./commands/undo.ts')).undo(terminal, request);
    case 'sessions':
      return (await import('./commands/lists.ts')).sessions(terminal, request);
    case 'machines':
      return (await import('./commands/lists.ts')).machines(terminal, request);
    case 'worker':
      return (await import('./commands/worker.ts')).startWorker(terminal, request);
    case 'up':
      return (await import('./commands/stack.ts')).up(terminal, request);
    case 'down':
      return (await import('./commands/stack.ts')).down(terminal);
    case 'status':
      return (await import('./commands/stack.ts')).status(terminal, request);
    case 'logs':
      return (await import('./commands/stack.ts')).logs(terminal, request);
    case 'doctor':
      return (await import('./commands/doctor.ts')).doctor(terminal, request);
    case 'demo':
      return (await import('./commands/demo.ts')).demo(terminal);
  }
}

async function parse(argv: readonly string[]): Promise<Parsed> {
  const exec = parseExecArguments(argv);
  if (exec) return { kind: 'run', request: { command: 'exec', ...exec } };
  const { parseCommandLine } = await import('./command-line.ts');
  return parseCommandLine(argv, {
    version,
    out: (text) => terminal.stdout.write(text),
    err: (text) => terminal.stderr.write(text),
  });
}

// The launcher's compile cache is for this program, not for the programs that it starts.
delete process.env['NODE_COMPILE_CACHE'];
const terminal = createProcessTerminal(process, { root: resolve(import.meta.dirname, '../../..') });
const parsed = await parse(process.argv.slice(2));
if (parsed.kind === 'end') process.exitCode = parsed.exitCode;
else {
  try {
    process.exitCode = await run(terminal, parsed.request);
  } catch (error) {
    const { exitCode, message } = toExit(error);
    terminal.stderr.write(`holdfast: ${message}\n`);
    process.exitCode = exitCode;
  }
  // Kept connections and timers are of no use any more; what was written is flushed first.
  process.stdout.write('', () => process.exit());
}
