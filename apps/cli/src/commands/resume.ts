import { randomUUID } from 'node:crypto';
import { connect } from '../connection.ts';
import type { ExitCode } from '../exit-codes.ts';
import { followTurn } from '../follow-turn.ts';
import { readPrompt } from '../prompt.ts';
import type { Terminal } from '../terminal.ts';
import { noteSession } from './exec.ts';

export type ResumeRequest = { sessionId: string; prompt: string | undefined; json: boolean };

/** Another prompt in a session that exists; it waits for a turn that runs. */
export async function resume(terminal: Terminal, request: ResumeRequest): Promise<ExitCode> {
  const { sessionId } = request;
  const prompt = await readPrompt(terminal, request.prompt);
  const { client, answer } = await connect(terminal, (first) => first.open(sessionId).read());
  const session = client.open(sessionId);
  const inputId = randomUUID();
  const { delivered } = await session.send({ inputId, text: prompt, kind: 'prompt' });
  noteSession(terminal, { sessionId, delivered });
  return followTurn(terminal, session, {
    turnId: inputId,
    after: answer.lastEventSeq,
    json: request.json,
    detachable: true,
  });
}
