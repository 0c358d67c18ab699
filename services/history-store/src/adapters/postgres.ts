// postgres.ts: the history store on Postgres. Every write is one call of a function in src/migrations, so that a stale attempt is
// refused by the database and a request costs one round trip.
import { createHash } from 'node:crypto';
import type { BlobStore, HistoryStore, MachineDirectory, SessionLog } from '@holdfast/agent-loop';
import { Failure, type FailureCode } from '@holdfast/failures';
import type { EventBody, SessionEvent } from '@holdfast/protocol';
import { toCleanJson, toCleanText } from '../clean-text.ts';
import { leaseMs } from '../lease.ts';
import { createSessionOrder } from '../session-order.ts';
import type { Database } from './database.ts';
import { readStatement, toFunctionCall } from './statements.ts';

export type PostgresStoreOptions = {
  database: Database;
  /** Told of the events of every commit, in the order of their numbers within a session. Must not throw. */
  onEvents: (events: SessionEvent[]) => void;
};

type Writer = <Result>(operation: string, request: { sessionId: string }) => Promise<Result>;

/**
 * The schema must have been migrated. Failures carry their code; a database that is away gives `store.unavailable`.
 * Opening a step of a new turn while another turn of the session still runs (possible after Temporal lost its state) ends the older
 * one as cancelled in the same transaction.
 */
export function createPostgresStore(options: PostgresStoreOptions): HistoryStore {
  const { database, onEvents } = options;
  const order = createSessionOrder();
  const write: Writer = <Result>(operation: string, request: { sessionId: string }) =>
    order.run(request.sessionId, async () => {
      const rows = await database.query<{ answer: Answer<Result> }>(toFunctionCall(operation), [
        toCleanJson(request),
      ]);
      const answer = rows[0]?.answer;
      if (!answer) throw new Error(`${operation} returned nothing`);
      if (answer.events?.length)
        onEvents(answer.events.flatMap((batch) => toEvents(request.sessionId, batch)));
      return answer.result;
    });
  return {
    ...createSessionLog(database, write),
    openStep: (request) => write('open_step', request),
    commitStep: (request) => write('commit_step', request),
    noteFailure: async (request) => void (await write('note_failure', request)),
    claimCall: (request) => write('claim_call', request),
    askApproval: (request) => write('ask_approval', request),
    decideApproval: (request) => write('decide_approval', request),
    appendProgress: async (request) => void (await write('append_progress', request)),
    finishCall: (request) => write('finish_call', request),
    settleCall: (request) => write('settle_call', request),
    sealTurn: (request) => write('seal_turn', request),
    noteWaiting: async (request) => void (await write('note_waiting', request)),
    ...createMachineDirectory(database),
    ...createBlobStore(database),
  };
}

/** Events of one turn that were written together, as the functions of the schema return them. */
type EventBatch = { turnId: string; at: string; seq: number; bodies: EventBody[] };
type Answer<Result> = { result: Result; events?: EventBatch[] };

function toEvents(sessionId: string, batch: EventBatch): SessionEvent[] {
  const { turnId, at, seq, bodies } = batch;
  return bodies.map((body, index) => Object.assign(body, { seq: seq + index, sessionId, turnId, at }));
}

const readSession = readStatement('read-session');
const listSessions = readStatement('list-sessions');
const listPendingInputs = readStatement('list-pending-inputs');
const listTurns = readStatement('list-turns');
const readItems = readStatement('read-items');
const readEvents = readStatement('read-events');

function createSessionLog(database: Database, write: Writer): SessionLog {
  return {
    createSession: (request) => write('create_session', request),
    closeSession: (request) => write('close_session', request),
    addInput: (request) => write('add_input', request),
    readSession: ({ sessionId }) => readPage(database, readSession, [sessionId], 'session.unknown'),
    listSessions: ({ limit }) => readPage(database, listSessions, [limit], 'internal.unexpected'),
    listPendingInputs: ({ quietMs, after, limit }) =>
      readPage(database, listPendingInputs, [quietMs, after, limit], 'internal.unexpected'),
    listTurns: ({ sessionId }) => readPage(database, listTurns, [sessionId], 'session.unknown'),
    readItems: ({ sessionId, after, limit }) =>
      readPage(database, readItems, [sessionId, after, limit], 'session.unknown'),
    readEvents: ({ sessionId, after, limit }) =>
      readPage(database, readEvents, [sessionId, after, limit], 'session.unknown'),
  };
}

const registerMachine = toFunctionCall('register_machine');
const renewLease = readStatement('renew-lease');
const releaseLease = readStatement('release-lease');
const listMachines = readStatement('list-machines');
const readCatalog = readStatement('read-catalog');

function createMachineDirectory(database: Database): MachineDirectory {
  return {
    registerMachine: async (request) => {
      await database.query(registerMachine, [toCleanJson({ ...request, leaseMs })]);
      return { leaseMs };
    },
    renewLease: async ({ machineId, bootId }) => {
      const rows = await database.query(renewLease, toCleanValues([machineId, bootId, leaseMs]));
      if (rows.length === 0) throw new Failure('machine.lease-lost');
      return { leaseMs };
    },
    releaseLease: async ({ machineId, bootId }) =>
      void (await database.query(releaseLease, toCleanValues([machineId, bootId]))),
    listMachines: () => readPage(database, listMachines, [], 'internal.unexpected'),
    readCatalog: ({ digest }) => readPage(database, readCatalog, [digest], 'catalog.unknown'),
  };
}

const putBlob = readStatement('put-blob');
const readBlob = readStatement('read-blob');

function createBlobStore(database: Database): BlobStore {
  return {
    putBlob: async ({ bytes, mediaType }) => {
      const digest = createHash('sha256').update(bytes).digest('hex');
      await database.query(putBlob, [digest, toCleanText(mediaType), bytes]);
      return { digest, size: bytes.byteLength };
    },
    readBlob: async ({ digest }) => {
      const [blob] = await database.query<{ mediaType: string; bytes: Buffer }>(readBlob, [digest]);
      if (!blob) throw new Failure('blob.unknown');
      return { mediaType: blob.mediaType, bytes: new Uint8Array(blob.bytes) };
    },
  };
}

/** The one JSON value of a reading statement; no row means that what was asked for does not exist. */
async function readPage<Page>(
  database: Database,
  statement: Parameters<Database['query']>[0],
  values: readonly (string | number)[],
  missing: FailureCode,
): Promise<Page> {
  const [row] = await database.query<{ page: Page }>(statement, toCleanValues(values));
  if (!row) throw new Failure(missing);
  return row.page;
}

function toCleanValues(values: readonly (string | number)[]): (string | number)[] {
  return values.map((value) => (typeof value === 'string' ? toCleanText(value) : value));
}
