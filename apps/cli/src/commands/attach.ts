import { connect } from '../connection.ts';
import type { ExitCode } from '../exit-codes.ts';
import { followTurn } from '../follow-turn.ts';
import type { Terminal } from '../terminal.ts';

export type AttachRequest = { sessionId: string; json: boolean };

/** Shows the newest turn from its beginning, until it ends; a session without a turn is watched until its first one ends. */
export async function attach(terminal: Terminal, request: AttachRequest): Promise<ExitCode> {
  const { client, answer } = await connect(terminal, (first) => first.open(request.sessionId).listTurns());
  const session = client.open(request.sessionId);
  const newest = answer.toSorted((one, other) => one.ordinal - other.ordinal).at(-1);
  return followTurn(terminal, session, {
    ...(newest ? { turnId: newest.turnId } : {}),
    json: request.json,
    detachable: true,
    showPrompt: true,
  });
}
