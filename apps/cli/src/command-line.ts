// command-line.ts: what a command line asks for. Runs nothing: every command is imported only when it is the one.
import type { ApprovalPolicy, ToolProfile } from '@holdfast/protocol';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { exitCodes, type ExitCode } from './exit-codes.ts';

export type ExecRequest = {
  prompt: string | undefined;
  json: boolean;
  cd: string | undefined;
  model: string | undefined;
  machine: string | undefined;
  script: string | undefined;
  local: boolean;
  approval: ApprovalPolicy;
  tools?: ToolProfile;
};

export type Request =
  | ({ command: 'exec' } & ExecRequest)
  | { command: 'resume'; sessionId: string; prompt: string | undefined; json: boolean }
  | { command: 'attach'; sessionId: string; json: boolean }
  | { command: 'interrupt'; sessionId: string }
  | { command: 'approve'; sessionId: string; approvalId: string; decline: boolean }
  | { command: 'answer'; sessionId: string; approvalId: string; answers: string[] }
  | { command: 'events'; sessionId: string; json: boolean; follow: boolean }
  | { command: 'ps'; sessionId: string; json: boolean }
  | { command: 'kill'; sessionId: string; id: number }
  | { command: 'clean'; sessionId: string }
  | { command: 'undo'; sessionId: string; turn: number | undefined; force: boolean; json: boolean }
  | { command: 'sessions'; json: boolean }
  | { command: 'machines'; json: boolean }
  | { command: 'worker'; name: string; workspace: string }
  | { command: 'up'; split: boolean; json: boolean }
  | { command: 'down' }
  | { command: 'status'; json: boolean }
  | { command: 'logs'; role: string | undefined; follow: boolean }
  | { command: 'doctor'; json: boolean }
  | { command: 'demo' };

export type Parsed = { kind: 'run'; request: Request } | { kind: 'end'; exitCode: ExitCode };

export type Writers = { out: (text: string) => void; err: (text: string) => void };

/** Commander leaves out the options that were not given and have no default. */
type ExecFlags = Pick<ExecRequest, 'json' | 'local' | 'approval' | 'tools'> & {
  [Name in 'cd' | 'model' | 'machine' | 'script']?: string;
};

type Take = (request: Request) => void;

/** Help and version go to `out`, complaints to `err`; both end the program. Never throws for what a person typed. */
export function parseCommandLine(argv: readonly string[], options: { version: string } & Writers): Parsed {
  const taken: { request?: Request } = {};
  const program = createProgram(options, (request) => (taken.request = request));
  try {
    program.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: 'end', exitCode: error.exitCode === 0 ? exitCodes.ok : exitCodes.usage };
  }
  return taken.request ? { kind: 'run', request: taken.request } : { kind: 'end', exitCode: exitCodes.usage };
}

function createProgram({ version, out, err }: { version: string } & Writers, take: Take): Command {
  const program = new Command('holdfast')
    .description('The Codex agent loop made durable: any process may die, the turn goes on.')
    .version(version)
    .configureOutput({ writeOut: out, writeErr: err })
    .showHelpAfterError('(`holdfast --help` lists the commands and options)')
    .showSuggestionAfterError(true)
    .exitOverride();
  addTurnCommands(program, take);
  addSessionCommands(program, take);
  addTerminalCommands(program, take);
  addStackCommands(program, take);
  return program;
}

const json = ['--json', 'machine-readable output, one JSON object a line'] as const;

function addTurnCommands(program: Command, take: Take): void {
  program
    .command('exec')
    .description('run one prompt in a new session and print the answer')
    .argument('[prompt]', 'the prompt; `-` or nothing: read it from stdin')
    .option(...json, false)
    .option('-C, --cd <dir>', 'folder to work in (default: the current one)')
    .option('-m, --model <model>', 'model to ask (default: HOLDFAST_MODEL or gpt-5.5)')
    .option('--machine <name>', 'machine that runs the tools (default: local)')
    .option('--script <file>', 'play a scripted model from a JSON file')
    .addOption(toolsOption())
    .option('--local', 'run in this process, without the stack; ends with it', false)
    .addOption(approvalOption())
    .action((prompt: string | undefined, { cd, model, machine, script, ...flags }: ExecFlags) =>
      take({ command: 'exec', prompt, cd, model, machine, script, ...flags }),
    );
  program
    .command('resume')
    .description('send another prompt to a session and print the answer')
    .argument('<session>', 'id of the session')
    .argument('[prompt]', 'the prompt; `-` or nothing: read it from stdin')
    .option(...json)
    .action((sessionId: string, prompt: string | undefined, flags: { json?: true }) =>
      take({ command: 'resume', sessionId, prompt, json: flags.json === true }),
    );
  program
    .command('attach')
    .description('watch the newest turn of a session until it ends')
    .argument('<session>', 'id of the session')
    .option(...json)
    .action((sessionId: string, flags: { json?: true }) =>
      take({ command: 'attach', sessionId, json: flags.json === true }),
    );
}

function approvalOption(): Option {
  return new Option('--approval <policy>', 'ask a person before a tool changes something')
    .choices(['never', 'always'] satisfies ApprovalPolicy[])
    .default('never');
}

function toolsOption(): Option {
  return new Option('--tools <profile>', 'what the model is offered (default: codex)').choices([
    'codex',
    'files',
    'minimal',
  ] satisfies ToolProfile[]);
}

function addSessionCommands(program: Command, take: Take): void {
  program
    .command('interrupt')
    .description('stop the running turn of a session')
    .argument('<session>', 'id of the session')
    .action((sessionId: string) => take({ command: 'interrupt', sessionId }));
  program
    .command('approve')
    .description('answer a question that a turn waits for')
    .argument('<session>', 'id of the session')
    .argument('<approval>', 'id of the approval')
    .option('--decline', 'say no')
    .action((sessionId: string, approvalId: string, flags: { decline?: true }) =>
      take({ command: 'approve', sessionId, approvalId, decline: flags.decline === true }),
    );
  program
    .command('answer')
    .description('answer the questions that a turn waits for')
    .argument('<session>', 'id of the session')
    .argument('<approval>', 'id of the approval that asks')
    .argument(
      '<answers...>',
      'ID=ANSWER for each question, or only ANSWER for a single one; a number means that option',
    )
    .action((sessionId: string, approvalId: string, answers: string[]) =>
      take({ command: 'answer', sessionId, approvalId, answers }),
    );
  program
    .command('events')
    .description('print the events of a session, one a line')
    .argument('<session>', 'id of the session')
    .option(...json)
    .option('-f, --follow', 'go on with new events until Ctrl-C')
    .action((sessionId: string, flags: { json?: true; follow?: true }) =>
      take({ command: 'events', sessionId, json: flags.json === true, follow: flags.follow === true }),
    );
  program
    .command('sessions')
    .description('list the sessions, newest activity first')
    .option(...json)
    .action((flags: { json?: true }) => take({ command: 'sessions', json: flags.json === true }));
  program
    .command('machines')
    .description('list the machines that run tools')
    .option(...json)
    .action((flags: { json?: true }) => take({ command: 'machines', json: flags.json === true }));
  program
    .command('worker')
    .description('run tools on this machine')
    .command('start')
    .description('serve this machine in the foreground until Ctrl-C')
    .requiredOption('--name <name>', 'what people call the machine')
    .requiredOption('--workspace <dir>', 'folder that sessions work in by default')
    .action((flags: { name: string; workspace: string }) => take({ command: 'worker', ...flags }));
}

function addTerminalCommands(program: Command, take: Take): void {
  program
    .command('ps')
    .description('list the commands that run in the background of a session')
    .argument('<session>', 'id of the session')
    .option(...json)
    .action((sessionId: string, flags: { json?: true }) =>
      take({ command: 'ps', sessionId, json: flags.json === true }),
    );
  program
    .command('kill')
    .description('end one background command, with everything it started')
    .argument('<session>', 'id of the session')
    .argument('<id>', 'number of the command, as `ps` shows it', toTerminalId)
    .action((sessionId: string, id: number) => take({ command: 'kill', sessionId, id }));
  program
    .command('clean')
    .description('end every background command of a session')
    .argument('<session>', 'id of the session')
    .action((sessionId: string) => take({ command: 'clean', sessionId }));
  program
    .command('undo')
    .description('put the files back to what they were before a turn of a session')
    .argument('<session>', 'id of the session')
    .option('--turn <n>', 'this turn and those after it; default the last one that changed files', toTurn)
    .option('--force', 'also files that somebody else changed later')
    .option(...json)
    .action((sessionId: string, flags: { turn?: number; force?: true; json?: true }) => {
      const { turn, force, json: asJson } = flags;
      take({ command: 'undo', sessionId, turn, force: force === true, json: asJson === true });
    });
}

function toTerminalId(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number; `holdfast ps SESSION` shows it.');
}

function toTurn(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be the number of a turn, counted from 1.');
}

function addStackCommands(program: Command, take: Take): void {
  program
    .command('up')
    .description('start the stack of this checkout, or find it running')
    .option('--split', 'each service in a process of its own')
    .option(...json)
    .action((flags: { split?: true; json?: true }) =>
      take({ command: 'up', split: flags.split === true, json: flags.json === true }),
    );
  program
    .command('down')
    .description('stop the stack; what it stored stays')
    .action(() => take({ command: 'down' }));
  program
    .command('status')
    .description('show what runs')
    .option(...json)
    .action((flags: { json?: true }) => take({ command: 'status', json: flags.json === true }));
  program
    .command('logs')
    .description('show the last lines of the logs')
    .argument('[role]', 'only this role, for example session-api')
    .option('-f, --follow', 'go on with new lines until Ctrl-C')
    .action((role: string | undefined, flags: { follow?: true }) =>
      take({ command: 'logs', role, follow: flags.follow === true }),
    );
  program
    .command('doctor')
    .description('look for what is wrong and say how to repair it')
    .option(...json)
    .action((flags: { json?: true }) => take({ command: 'doctor', json: flags.json === true }));
  program
    .command('demo')
    .description('kill processes in the middle of a turn and watch it go on')
    .action(() => take({ command: 'demo' }));
}
