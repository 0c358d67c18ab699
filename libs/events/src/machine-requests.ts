// machine-requests.ts: questions to one machine, over NATS request and reply. Nothing is kept: who gets no answer asks again.
import type { TerminalReply, TerminalRequest, UndoRequest, UndoResult } from '@holdfast/protocol';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { toMachineSubject } from './subjects.ts';

export type MachineRequest = TerminalRequest | UndoRequest;
export type MachineReply<Request extends MachineRequest> = Request extends UndoRequest
  ? UndoResult
  : TerminalReply;

/** More than ending a stubborn command takes; restoring a large workspace reads and writes many files. */
const answerLimitMs = { terminals: 5_000, undo: 60_000 };

type Answer<Reply> = { reply: Reply } | { error: string };

/** Undefined when nobody answers. @throws Error with the words of the machine */
export async function askMachine<Request extends MachineRequest>(
  connection: NatsConnection | undefined,
  machineId: string,
  request: Request,
): Promise<MachineReply<Request> | undefined> {
  if (!connection || connection.isClosed()) return undefined;
  let message: Msg;
  try {
    message = await connection.request(toMachineSubject(machineId), JSON.stringify(request), {
      timeout: request.op === 'undo' ? answerLimitMs.undo : answerLimitMs.terminals,
    });
  } catch {
    return undefined;
  }
  const answer = message.json<Answer<MachineReply<Request>>>();
  if ('error' in answer) throw new Error(answer.error);
  return answer.reply;
}

/** Never rejects. */
export async function reply(message: Msg, answering: Promise<MachineReply<MachineRequest>>): Promise<void> {
  const answer = await answering.then(
    (given): Answer<MachineReply<MachineRequest>> => ({ reply: given }),
    (error: unknown): Answer<never> => ({ error: error instanceof Error ? error.message : String(error) }),
  );
  message.respond(JSON.stringify(answer));
}
