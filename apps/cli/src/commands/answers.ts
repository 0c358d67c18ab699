// answers.ts: what a person says to a running session.
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
