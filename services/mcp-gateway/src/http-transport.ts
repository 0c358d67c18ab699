import { setTimeout as delay } from 'node:timers/promises';
import { StreamableHTTPClientTransport, type JSONRPCMessage } from '@modelcontextprotocol/client';

/** Mark of an answer that this transport made up because none will come. */
const streamEndedMark = 'holdfast.stream-ended';
/** JSON-RPC range for errors of an implementation. */
const streamEndedCode = -32_000;
/** How long saying goodbye to a server may take. */
const goodbyeMs = 500;

type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport['send']>[1]>;

/**
 * Streamable HTTP whose requests always get an answer: when the stream of a request ends before it, the request fails at once
 * instead of waiting for its timeout. Closing ends the session at the server, too.
 */
export class HttpTransport extends StreamableHTTPClientTransport {
  override send(message: JSONRPCMessage, options: SendOptions = {}): Promise<void> {
    if (!('method' in message && 'id' in message) || options.onRequestStreamEnd)
      return super.send(message, options);
    const { id } = message;
    const onRequestStreamEnd = () => {
      const error = {
        code: streamEndedCode,
        message: 'the stream ended without an answer',
        data: { [streamEndedMark]: true },
      };
      this.onmessage?.({ jsonrpc: '2.0', id, error });
    };
    return super.send(message, { ...options, onRequestStreamEnd });
  }

  override async close(): Promise<void> {
    if (this.sessionId !== undefined) {
      const waiting = new AbortController();
      const goodbye = this.terminateSession().catch(() => undefined);
      await Promise.race([
        goodbye,
        delay(goodbyeMs, undefined, { signal: waiting.signal }).catch(() => undefined),
      ]);
      waiting.abort();
    }
    await super.close();
  }
}

/** @param data what a protocol error carries as `data` */
export function isStreamEnd(data: unknown): boolean {
  return typeof data === 'object' && data !== null && streamEndedMark in data;
}
