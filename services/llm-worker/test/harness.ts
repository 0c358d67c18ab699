// harness.ts: the streamer as services build it, in front of a real scripted model server and the recording store.
import type { SecretBox } from '@holdfast/config';
import { startModelServer, type ModelServer, type Reply, type Script } from '@holdfast/model-script';
import type { Catalog, Delta, ModelSettings } from '@holdfast/protocol';
import { createModelDirectory, createModelStreamer, type AttemptStreamer } from '../src/index.ts';
import { RecordingStore } from './recording-store.ts';

export type Harness = AsyncDisposable & {
  server: ModelServer;
  store: RecordingStore;
  deltas: Delta[];
  /** What the machine was told ahead of the workflow. */
  announced: { machineId: string; callIds: string[] }[];
  streamer: AttemptStreamer;
};

export async function startHarness(options: {
  replies: Reply[];
  catalogs?: readonly Catalog[];
  model?: Partial<ModelSettings>;
  idleMs?: number;
  secretBox?: SecretBox;
}): Promise<Harness> {
  const script: Script = { replies: options.replies };
  const server = await startModelServer({ script });
  const model = { endpoint: { baseUrl: server.url }, ...options.model };
  const store = new RecordingStore({ model, ...(options.catalogs ? { catalogs: options.catalogs } : {}) });
  const deltas: Delta[] = [];
  const models = createModelDirectory({ defaultModel: 'gpt-5.5', secretBox: options.secretBox });
  const announced: Harness['announced'] = [];
  const streamer = createModelStreamer({
    store,
    models,
    deltas: { publishDelta: (delta) => deltas.push(delta) },
    announcer: { publishCalls: (machineId, { callIds }) => announced.push({ machineId, callIds }) },
    ...(options.idleMs === undefined ? {} : { idleMs: options.idleMs }),
  });
  return {
    server,
    store,
    deltas,
    announced,
    streamer,
    [Symbol.asyncDispose]: async () => {
      await models.close();
      await server.close();
    },
  };
}

/** The joined text of all deltas of one kind. */
export function toDeltaText(deltas: readonly Delta[], kind: 'text' | 'reasoning'): string {
  return deltas.flatMap((delta) => (delta.kind === kind ? [delta.text] : [])).join('');
}

/** What a promise rejects with. */
export function toRejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`resolved with ${JSON.stringify(value)}`);
    },
    (reason: unknown) => reason,
  );
}

export const machineCatalog: Catalog = {
  digest: 'a'.repeat(64),
  tools: [
    {
      name: 'exec_command',
      description: 'Runs a command.',
      placement: 'machine',
      effects: 'execute',
      supportsParallel: true,
      form: { kind: 'function', parameters: { type: 'object', properties: { cmd: { type: 'string' } } } },
    },
    {
      name: 'apply_patch',
      description: 'Changes files.',
      placement: 'machine',
      effects: 'write',
      supportsParallel: false,
      form: { kind: 'freeform', syntax: 'lark', definition: 'start: "x"' },
    },
  ],
};

export const gatewayCatalog: Catalog = {
  digest: 'b'.repeat(64),
  tools: [
    {
      name: 'Alpha__first',
      description: 'Sorted after the machine although its name is not.',
      placement: 'gateway',
      effects: 'read',
      supportsParallel: true,
      form: { kind: 'function', parameters: { type: 'object' } },
    },
  ],
};
