// connection.ts: from a terminal to the session-api: a configured one, the running stack, or a stack that is started for it.
// C1  A warm command sends no request and imports no library only to find out whether the stack is there: its own first request
//     shows that.
// C2  A stack file may be left over from a supervisor that was killed. So when nobody answers the first request, the stack is made
//     sure of, and the request is sent again.
import { createSessionClient, type SessionClient } from '@holdfast/session-client';
import { CliError, exitCodes, usageError } from './exit-codes.ts';
import { httpTransport } from './http-transport.ts';
import { readStackDoor, type StackDoor } from './stack-files.ts';
import type { Terminal } from './terminal.ts';

export type Connection<T> = { client: SessionClient; answer: T };

/**
 * Sends the first request of a command, which must be idempotent, and hands back its answer with a client for the others.
 * @throws CliError, StackError or Failure, each with a sentence for the person
 */
export async function connect<T>(
  terminal: Terminal,
  first: (client: SessionClient) => Promise<T>,
): Promise<Connection<T>> {
  const configured = readConfiguredDoor(terminal);
  if (configured) return send(configured, first);
  const door = readStackDoor(terminal);
  const warm = door ? await sendOnce(door, first) : null; // C1
  return warm ?? send(await startStack(terminal), first); // C2
}

/** An installation elsewhere, for example in a cluster. */
function readConfiguredDoor({ env }: Terminal): StackDoor | null {
  const sessionApiUrl = env['HOLDFAST_API_URL'];
  if (!sessionApiUrl) return null;
  const apiToken = env['HOLDFAST_API_TOKEN'];
  if (!apiToken) throw usageError('HOLDFAST_API_URL is set but HOLDFAST_API_TOKEN is not; set both.');
  return { sessionApiUrl, apiToken };
}

function toClient(door: StackDoor, options: { patienceMs?: number } = {}): SessionClient {
  return createSessionClient({
    url: door.sessionApiUrl,
    token: door.apiToken,
    transport: httpTransport,
    ...options,
  });
}

async function send<T>(
  door: StackDoor,
  first: (client: SessionClient) => Promise<T>,
): Promise<Connection<T>> {
  const client = toClient(door);
  return { client, answer: await first(client) };
}

/** Null when nobody answered. */
async function sendOnce<T>(
  door: StackDoor,
  first: (client: SessionClient) => Promise<T>,
): Promise<Connection<T> | null> {
  try {
    const answer = await first(toClient(door, { patienceMs: 0 }));
    return { client: toClient(door), answer };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // Another program may listen at the port of a stack that is gone; it does not know the token or the way.
    if (code === 'store.unavailable' || code === 'auth.missing' || code === 'internal.unexpected')
      return null;
    throw error;
  }
}

async function startStack(terminal: Terminal): Promise<StackDoor> {
  const { bringUp } = await import('./stack-start.ts');
  const { sessionApiUrl, secrets } = await bringUp(terminal, { split: false });
  if (sessionApiUrl !== null) return { sessionApiUrl, apiToken: secrets.apiToken };
  throw new CliError(exitCodes.failed, 'The stack has no session-api; run `holdfast doctor`.');
}
