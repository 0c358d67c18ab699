// machine-requests.ts: questions to one machine, over NATS request and reply. Nothing is kept: who gets no answer asks again.
import type { TerminalReply, TerminalRequest } from '@holdfast/protocol';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { toMachineSubject } from './subjects.ts';

/** More than ending a stubborn command takes. */
const answerLimitMs = 5_000;

type Answer = { reply: TerminalReply } | { error: string };

/** Undefined when nobody answers. @throws Error with the words of the machine */
export async function askMachine(
  connection: NatsConnection | undefined,
  machineId: string,
  request: TerminalRequest,
): Promise<TerminalReply | undefined> {
  if (!connection || connection.isClosed()) return undefined;
  let message: Msg;
  try {
    message = await connection.request(toMachineSubject(machineId), JSON.stringify(request), {
      timeout: answerLimitMs,
    });
  } catch {
    return undefined;
  }
  const answer = message.json<Answer>();
  if ('error' in answer) throw new Error(answer.error);
  return answer.reply;
}

/** Never rejects. */
export async function reply(message: Msg, answering: Promise<TerminalReply>): Promise<void> {
  const answer = await answering.then(
    (given): Answer => ({ reply: given }),
    (error: unknown): Answer => ({ error: error instanceof Error ? error.message : String(error) }),
  );
  message.respond(JSON.stringify(answer));
}
