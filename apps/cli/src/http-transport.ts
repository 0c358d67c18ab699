// http-transport.ts: the session client's requests over Node's own HTTP client. `fetch` takes 20–40 ms to load, which is a third of
// the time between the start of `exec` and the first model request.
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { ApiReply, Transport } from '@holdfast/session-client';

/** Connections are kept for the next request of the process. */
export const httpTransport: Transport = async (url, { method, headers, body, signal }) => {
  const options: RequestOptions = { method, headers, ...(signal ? { signal } : {}) };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = open(url, options).once('response', resolve).once('error', reject);
  request.end(body);
  return toReply(await promise);
};

// The named exports of `node:http` as a module would load the very client that this one replaces.
function open(url: string, options: RequestOptions): ClientRequest {
  const secure = url.startsWith('https:');
  const { request } = secure ? process.getBuiltinModule('node:https') : process.getBuiltinModule('node:http');
  return request(url, options);
}

function toReply(response: IncomingMessage): ApiReply {
  const { statusCode = 0, headers } = response;
  const read = async (): Promise<Uint8Array<ArrayBuffer>> => {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return new Uint8Array(Buffer.concat(chunks));
  };
  return {
    ok: statusCode >= 200 && statusCode < 300,
    status: statusCode,
    headers: { get: (name) => toText(headers[name.toLowerCase()]) },
    body: response,
    json: async () => JSON.parse(Buffer.from(await read()).toString('utf8')) as unknown,
    arrayBuffer: async () => (await read()).buffer,
  };
}

function toText(value: string | string[] | undefined): string | null {
  return Array.isArray(value) ? value.join(', ') : (value ?? null);
}
