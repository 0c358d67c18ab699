import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { SessionClient } from '@holdfast/session-client';
import type { ExecRequest } from '../command-line.ts';
import { connect } from '../connection.ts';
import { CliError, exitCodes, usageError, type ExitCode } from '../exit-codes.ts';
import { chooseModel, isLeftToStack, scriptedNotice } from '../model-choice.ts';
import { readPrompt } from '../prompt.ts';
import { localMachine } from '../stack-environment.ts';
import { hasStackModel } from '../stack-files.ts';
import { note, type Terminal } from '../terminal.ts';

/** One prompt in a new session. Everything a person can get wrong is checked before anything is made. */
export async function exec(terminal: Terminal, request: ExecRequest): Promise<ExitCode> {
  const machine = request.machine ?? localMachine;
  const cwd = await toFolder(terminal, request, machine);
  const [model, prompt] = await Promise.all([
    chooseModel(terminal, request),
    readPrompt(terminal, request.prompt),
  ]);
  if (request.local) {
    const { execLocally } = await import('../local/exec-locally.ts');
    return execLocally(terminal, { ...request, cwd: cwd ?? terminal.cwd, model, prompt });
  }
  // Chosen here, so that sending the request again creates nothing twice.
  const { randomUUID } = process.getBuiltinModule('node:crypto');
  const [sessionId, inputId] = [randomUUID(), randomUUID()];
  const settings = {
    machine,
    model,
    approvalPolicy: request.approval,
    ...(cwd === undefined ? {} : { cwd }),
  };
  const create = (client: SessionClient) =>
    client.createSession({ sessionId, settings, requireOnline: true, input: { inputId, text: prompt } });
  const connecting = connect(terminal, create);
  // Loaded while the request is on its way.
  const following = import('../follow-turn.ts');
  const { client, answer } = await connecting.catch((error: unknown) => refuseOffline(machine, error));
  if (isLeftToStack(model) && !hasStackModel(terminal)) note(terminal, scriptedNotice);
  noteSession(terminal, { sessionId, delivered: answer.delivered });
  const { followTurn } = await following;
  return followTurn(terminal, client.open(sessionId), {
    turnId: inputId,
    json: request.json,
    detachable: true,
  });
}

/** The first lines: which session it is and how to come back to it. */
export function noteSession(
  terminal: Terminal,
  { sessionId, delivered }: { sessionId: string; delivered: boolean | undefined },
): void {
  note(terminal, `session ${sessionId}`);
  note(terminal, `attach again with \`holdfast attach ${sessionId}\``);
  if (delivered !== false) return;
  note(
    terminal,
    'Temporal cannot be reached; the prompt is kept and its turn starts as soon as Temporal answers.',
  );
}

/** A folder of another machine cannot be looked at from here; without one that machine's workspace is meant. */
async function toFolder(
  terminal: Terminal,
  { cd }: Pick<ExecRequest, 'cd'>,
  machine: string,
): Promise<string | undefined> {
  if (machine !== localMachine) return cd;
  const folder = resolve(terminal.cwd, cd ?? '.');
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory()) return folder;
  throw usageError(
    `${folder} ${found ? 'is not a folder' : 'does not exist'}; give an existing folder with -C.`,
  );
}

function refuseOffline(machine: string, error: unknown): never {
  if (!(error instanceof Error && 'code' in error && error.code === 'machine.offline')) throw error;
  throw new CliError(
    exitCodes.machineOffline,
    `The machine ${machine} is offline, so nothing was started; start its tool worker there (\`holdfast worker start --name ${machine} --workspace DIR\`) or choose another with --machine.`,
    { cause: error },
  );
}
