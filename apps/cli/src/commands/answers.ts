// answers.ts: what a person says to a running session.
import { toAnswers } from '../answers.ts';
import { connect } from '../connection.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { note, type Terminal } from '../terminal.ts';

/** Stops the running turn. A session without one is a usage error. */
export async function interrupt(terminal: Terminal, request: { sessionId: string }): Promise<ExitCode> {
  const { client } = await connect(terminal, (first) => first.open(request.sessionId).read());
  await client.open(request.sessionId).interrupt();
  note(terminal, `Interrupted the turn of session ${request.sessionId}.`);
  return exitCodes.ok;
}

export type ApproveRequest = { sessionId: string; approvalId: string; decline: boolean };

/** Answers an approval; the same answer again changes nothing. */
export async function approve(terminal: Terminal, request: ApproveRequest): Promise<ExitCode> {
  const { sessionId, approvalId, decline } = request;
  const decision = decline ? 'decline' : 'accept';
  await connect(terminal, (first) => first.open(sessionId).approve({ approvalId, decision }));
  note(terminal, `${decline ? 'Declined' : 'Accepted'} ${approvalId}.`);
  return exitCodes.ok;
}

export type AnswerRequest = { sessionId: string; approvalId: string; answers: readonly string[] };

/** Answers the questions of an approval, from any terminal and at any time; the same answers again change nothing. */
export async function answer(terminal: Terminal, request: AnswerRequest): Promise<ExitCode> {
  const { sessionId, approvalId } = request;
  const { client, answer: approval } = await connect(terminal, (first) =>
    first.open(sessionId).readApproval(approvalId),
  );
  const answers = toAnswers(approval, request.answers);
  await client.open(sessionId).approve({ approvalId, decision: 'accept', answers });
  note(terminal, `Answered ${approvalId}; the turn goes on.`);
  return exitCodes.ok;
}
