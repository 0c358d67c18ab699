// http-store.ts: the history store over HTTP. Every operation is idempotent, so a lost connection or a 503 is simply repeated.
import type { BlobStore, HistoryStore } from '@holdfast/agent-loop';
import { Failure, isFailureCode } from '@holdfast/failures';
import { createHttpConnection, type HttpConnection, type HttpReply } from './http-connection.ts';
import { operations, type StoreOperation } from './operations.ts';
import { repeatWhileUnavailable, type Patience } from './patience.ts';

export type HttpStoreOptions = Patience & {
  /** For example `http://127.0.0.1:7402`. */
  url: string;
  token: string;
};

type Repeat = (send: () => Promise<HttpReply>) => Promise<HttpReply>;

/** @throws Failure with the store's own code, or store.unavailable when the patience is used up */
export function createHttpStore(options: HttpStoreOptions): HistoryStore {
  const connection = createHttpConnection(options.url, `Bearer ${options.token}`);
  const repeat: Repeat = (send) => repeatWhileUnavailable(options, () => attempt(send));
  const headers = { 'content-type': 'application/json' };
  const names = Object.keys(operations) as StoreOperation[];
  const calls = names.map((name) => {
    const send = async (request: unknown) => {
      const body = JSON.stringify(request ?? {});
      const reply = await repeat(() =>
        connection.send({ method: 'POST', path: `/v1/${name}`, headers, body }),
      );
      return toJson(reply);
    };
    return [name, send] as const;
  });
  return { ...Object.fromEntries(calls), ...createBlobCalls(repeat, connection) } as HistoryStore;
}

const blobType = 'application/octet-stream';

function createBlobCalls(repeat: Repeat, connection: HttpConnection): BlobStore {
  return {
    putBlob: async ({ bytes, mediaType }) => {
      const headers = { 'content-type': blobType, 'x-media-type': mediaType };
      const send = () => connection.send({ method: 'POST', path: '/v1/blobs', headers, body: bytes });
      return toJson(await repeat(send)) as { digest: string; size: number };
    },
    readBlob: async ({ digest }) => {
      const reply = await repeat(() => connection.send({ method: 'GET', path: `/v1/blobs/${digest}` }));
      const mediaType = reply.headers['x-media-type'];
      return {
        bytes: new Uint8Array(reply.body),
        mediaType: typeof mediaType === 'string' ? mediaType : blobType,
      };
    },
  };
}

/** @throws Failure */
async function attempt(send: () => Promise<HttpReply>): Promise<HttpReply> {
  const reply = await send().catch((cause: unknown) => {
    throw new Failure('store.unavailable', { cause });
  });
  if (reply.status >= 300) throw toFailure(reply);
  return reply;
}

function toJson(reply: HttpReply): unknown {
  return JSON.parse(reply.body.toString());
}

type FailureBody = { error?: { code?: unknown; detail?: unknown } };

function toFailure(reply: HttpReply): Failure {
  const { code, detail } = readFailureBody(reply).error ?? {};
  if (isFailureCode(code)) return new Failure(code, typeof detail === 'string' ? { detail } : {});
  if (reply.status >= 500) return new Failure('store.unavailable', { detail: `HTTP ${reply.status}` });
  return new Failure('internal.unexpected', { detail: `history store answered HTTP ${reply.status}` });
}

function readFailureBody(reply: HttpReply): FailureBody {
  try {
    return toJson(reply) as FailureBody;
  } catch {
    return {};
  }
}
