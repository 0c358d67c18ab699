// client.ts: the session-api as an object, for the CLI, the tests and anybody who drives Holdfast from code.
import type { AgentSession } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import type {
  Approval,
  ApprovalPolicy,
  BackgroundTerminal,
  InputKind,
  Machine,
  Session,
  SessionEvent,
  SessionId,
  StoredItem,
  OutputStyle,
  ToolProfile,
  Turn,
  UndoResult,
} from '@holdfast/protocol';
import { sendRequest, type ApiOptions, type ApiReply, type ApiRequest } from './api-requests.ts';
import { readEventStream, type EventStreamOptions } from './event-stream.ts';

type NewSessionRequest = {
  /** A UUID; chosen by the client when absent, so that a repeated request makes one session. */
  sessionId?: SessionId;
  settings: {
    /** Absolute path on the machine; the machine's workspace when absent. */
    cwd?: string;
    /** Name or id; may be absent where there is only one machine. */
    machine?: string;
    /** `apiKey` needs `baseUrl`; it is sealed where it arrives. */
    model: {
      name: string;
      baseUrl?: string;
      apiKey?: string;
      script?: string;
      tools?: ToolProfile;
      outputStyle?: OutputStyle;
    };
    approvalPolicy?: ApprovalPolicy;
  };
  /** Refuses with machine.offline when the machine is offline now; otherwise the turn waits for it. */
  requireOnline?: boolean;
  /** Starts the first turn in the same request. */
  input?: { inputId: string; text: string };
};

/** `delivered` is present when an input was given: false means that it is kept and will start as soon as Temporal answers. */
type CreatedSession = Session & { delivered?: boolean };

type InputReceipt = { duplicate: boolean; delivered: boolean };

type Page = { after?: number; limit?: number };

/** One session; `submit`, `steer`, … as in `AgentSession`, and what is recorded of it. */
export type RemoteSession = Omit<AgentSession, 'events'> & {
  /** Like `submit` and `steer`, and says what became of the input. */
  send(input: { inputId: string; text: string; kind: InputKind }): Promise<InputReceipt>;
  read(): Promise<Session>;
  /** @throws Failure approval.unknown */
  readApproval(approvalId: string): Promise<Approval>;
  listTurns(): Promise<Turn[]>;
  readItems(page?: Page): Promise<StoredItem[]>;
  readEvents(page?: Page): Promise<SessionEvent[]>;
  /** Commands in the background, from the machine itself. @throws Failure machine.offline */
  listTerminals(): Promise<BackgroundTerminal[]>;
  /** @throws Failure terminal.unknown, machine.offline */
  killTerminal(id: number): Promise<BackgroundTerminal>;
  /** Returns those that were ended. @throws Failure machine.offline */
  cleanTerminals(): Promise<BackgroundTerminal[]>;
  /** Restores the files that a turn, and those after it, changed. @throws Failure machine.offline */
  undo(order?: { turn?: number; force?: boolean }): Promise<UndoResult>;
  /** Recorded events first, then live ones, over as many connections as it takes. @throws Failure when refused */
  events(options?: EventStreamOptions): AsyncIterable<SessionEvent>;
};

/** All methods throw `Failure` with the session-api's code, and store.unavailable when it cannot be reached in time. */
export type SessionClient = {
  createSession(request: NewSessionRequest): Promise<CreatedSession>;
  /** Sends nothing; an unknown session shows with the first use. */
  open(sessionId: SessionId): RemoteSession;
  listSessions(options?: { limit?: number }): Promise<Session[]>;
  listMachines(): Promise<Machine[]>;
  readBlob(digest: string): Promise<{ bytes: Uint8Array; mediaType: string }>;
};

export function createSessionClient(options: ApiOptions): SessionClient {
  const send = <T>(request: ApiRequest) => sendJson<T>(options, request);
  return {
    createSession: (request) => {
      const body = { ...request, sessionId: request.sessionId ?? crypto.randomUUID() };
      return send<CreatedSession>({ method: 'POST', path: '/v1/sessions', body });
    },
    open: (sessionId) => openSession(options, sessionId),
    listSessions: (page = {}) => send<Session[]>({ method: 'GET', path: `/v1/sessions${toQuery(page)}` }),
    listMachines: () => send<Machine[]>({ method: 'GET', path: '/v1/machines' }),
    readBlob: (digest) => sendRequest(options, { method: 'GET', path: `/v1/blobs/${digest}` }, readBytes),
  };
}

function openSession(options: ApiOptions, sessionId: SessionId): RemoteSession {
  const base = `/v1/sessions/${encodeURIComponent(sessionId)}`;
  const get = <T>(path: string) => sendJson<T>(options, { method: 'GET', path: base + path });
  const post = <T>(path: string, body: unknown = {}) =>
    sendJson<T>(options, { method: 'POST', path: base + path, body });
  const send: RemoteSession['send'] = ({ inputId, kind, text }) => post('/inputs', { inputId, kind, text });
  return {
    sessionId,
    send,
    submit: async ({ inputId, text }) => void (await send({ inputId, text, kind: 'prompt' })),
    steer: async ({ inputId, text }) => void (await send({ inputId, text, kind: 'steer' })),
    interrupt: async (turn) => {
      const turnId = turn?.turnId ?? (await get<Session>('')).runningTurn;
      if (turnId === undefined) throw new Failure('session.not-running');
      await post('/interrupt', { turnId });
    },
    approve: async ({ approvalId, ...answer }) =>
      void (await post(`/approvals/${encodeURIComponent(approvalId)}`, answer)),
    readApproval: (approvalId) => get(`/approvals/${encodeURIComponent(approvalId)}`),
    refreshTools: async () => void (await post('/refresh-tools')),
    close: async () => void (await post('/close')),
    read: () => get(''),
    listTurns: () => get('/turns'),
    readItems: (page = {}) => get(`/items${toQuery(page)}`),
    readEvents: (page = {}) => get(`/events${toQuery(page)}`),
    listTerminals: () => get('/terminals'),
    killTerminal: (id) => post(`/terminals/${id}/kill`),
    cleanTerminals: () => post('/terminals/clean'),
    undo: (order) => post('/undo', order),
    events: (stream) => readEventStream(options, sessionId, stream),
  };
}

function sendJson<T>(options: ApiOptions, request: ApiRequest): Promise<T> {
  return sendRequest<T>(options, request, readJson as (response: ApiReply) => Promise<T>);
}

function readJson(response: ApiReply): Promise<unknown> {
  return response.json();
}

async function readBytes(response: ApiReply): Promise<{ bytes: Uint8Array; mediaType: string }> {
  const mediaType = response.headers.get('content-type') ?? 'application/octet-stream';
  return { bytes: new Uint8Array(await response.arrayBuffer()), mediaType };
}

function toQuery(page: { after?: number; limit?: number }): string {
  const query = new URLSearchParams();
  if (page.after !== undefined) query.set('after', String(page.after));
  if (page.limit !== undefined) query.set('limit', String(page.limit));
  return query.size === 0 ? '' : `?${query.toString()}`;
}
