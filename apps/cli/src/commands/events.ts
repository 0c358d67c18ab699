import { connect } from '../connection.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';
import { toEventLine } from '../view/event-line.ts';

export type EventsRequest = { sessionId: string; json: boolean; follow: boolean };

/** The API gives no larger page. */
const pageSize = 500;

/** The recorded events in the order of their `seq`, one a line; with `follow` also those to come, until Ctrl-C. */
export async function events(terminal: Terminal, request: EventsRequest): Promise<ExitCode> {
  const { client } = await connect(terminal, (first) => first.open(request.sessionId).read());
  const session = client.open(request.sessionId);
  const toLine = request.json ? JSON.stringify : toEventLine;
  const left = new AbortController();
  const stopListening = terminal.onInterrupt(() => left.abort());
  try {
    if (request.follow) {
      for await (const event of session.events({ signal: left.signal }))
        terminal.stdout.write(`${toLine(event)}\n`);
      return exitCodes.ok;
    }
    for (let after = 0; !left.signal.aborted;) {
      const page = await session.readEvents({ after, limit: pageSize });
      for (const event of page) terminal.stdout.write(`${toLine(event)}\n`);
      const last = page.at(-1);
      if (!last) break;
      after = last.seq;
    }
    return exitCodes.ok;
  } finally {
    stopListening();
  }
}
