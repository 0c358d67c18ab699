// trouble.ts: what an error of the MCP SDK, of HTTP or of the system means. The one place that looks at foreign errors.
import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { isStreamEnd } from './http-transport.ts';

/**
 * refused: the server answered with an error. undelivered: the server never had the request. lost: it had, and nobody will answer.
 * Reasons are clauses about the server, such as "it answered HTTP 500".
 */
export type Trouble = {
  kind: 'refused' | 'undelivered' | 'lost' | 'timed-out' | 'needs-client';
  reason: string;
};

/** An error of ours on the way to a server; the message is a clause. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected';
}

const signInReason =
  'it asks for a sign-in (HTTP 401); give it a token with bearerTokenEnvVar or headers in the MCP configuration';

/** System errors after which no byte of the request can have arrived. */
const unreachable: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export function toTrouble(error: unknown): Trouble {
  if (error instanceof NotConnected) return { kind: 'undelivered', reason: error.message };
  if (error instanceof UnauthorizedError) return { kind: 'refused', reason: signInReason };
  if (error instanceof SdkHttpError) return toHttpTrouble(error);
  if (error instanceof SdkError) return sdkTroubles[error.code] ?? toSystemTrouble(error);
  if (error instanceof ProtocolError) return toProtocolTrouble(error);
  return toSystemTrouble(error);
}

function toHttpTrouble({ status }: SdkHttpError): Trouble {
  if (status === 401) return { kind: 'refused', reason: signInReason };
  // A server that was restarted does not know the session any more; which of the two it says depends on the server.
  if (status === 404 || status === 400) return { kind: 'undelivered', reason: `it answered HTTP ${status}` };
  return { kind: status >= 500 ? 'lost' : 'refused', reason: `it answered HTTP ${status}` };
}

const sdkTroubles: Partial<Record<SdkErrorCode, Trouble>> = {
  [SdkErrorCode.RequestTimeout]: { kind: 'timed-out', reason: 'it did not answer in time' },
  [SdkErrorCode.NotConnected]: { kind: 'undelivered', reason: 'it is not connected' },
  [SdkErrorCode.SendFailed]: { kind: 'undelivered', reason: 'it is not connected' },
  [SdkErrorCode.ConnectionClosed]: { kind: 'lost', reason: 'it closed the connection' },
  [SdkErrorCode.UnsupportedResultType]: { kind: 'needs-client', reason: 'input from a person' },
};

function toProtocolTrouble(error: ProtocolError): Trouble {
  if (isStreamEnd(error.data)) return { kind: 'lost', reason: 'it closed the connection' };
  if (error instanceof MissingRequiredClientCapabilityError)
    return { kind: 'needs-client', reason: Object.keys(error.requiredCapabilities).join(', ') };
  if (error instanceof UrlElicitationRequiredError)
    return { kind: 'needs-client', reason: 'a visit to a web page' };
  return { kind: 'refused', reason: `it answered: ${toLine(error)}` };
}

function toSystemTrouble(error: unknown): Trouble {
  const code = findSystemCode(error);
  if (code === undefined) return { kind: 'lost', reason: `it failed: ${toLine(error)}` };
  if (unreachable.has(code)) return { kind: 'undelivered', reason: `it cannot be reached (${code})` };
  return { kind: 'lost', reason: `it broke the connection (${code})` };
}

/** The first code like ECONNRESET along the causes of an error. */
function findSystemCode(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > 5) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && !(error instanceof SdkError)
    ? code
    : findSystemCode(error.cause, depth + 1);
}

const lineLimit = 300;

function toLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.split('\n')[0] ?? '').slice(0, lineLimit);
}
