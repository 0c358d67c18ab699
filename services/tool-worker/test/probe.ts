// probe.ts: a machine with one tool that notes what it is asked, over the strict call log.
import { join } from 'node:path';
import type { CallOutput } from '@holdfast/protocol';
import { onTestFinished } from 'vitest';
import { createCallExecutor, type CallExecutor } from '../src/call-executor.ts';
import { toShortOutput } from '../src/call-outputs.ts';
import { Journal, type JournalRow } from '../src/journal.ts';
import { toCallKey } from '../src/run-call.ts';
import type { Tool, ToolRun, Traces } from '../src/tool.ts';
import { createFolder } from './folders.ts';
import { silent } from './machines.ts';
import { StrictCallLog } from './strict-call-log.ts';

export const ok = toShortOutput('ok', 'done');
const spec = {
  name: 'probe',
  description: '',
  placement: 'machine',
  effects: 'execute',
  supportsParallel: true,
  form: { kind: 'function', parameters: {} },
} as const;

export type Probe = {
  executor: CallExecutor;
  store: StrictCallLog;
  journal: Journal;
  /** What was asked of the tool, in order. */
  log: string[];
  /** Of the call `1.1.0`. */
  key: string;
  request: { sessionId: string; callId: string };
};

export type ProbeOptions = {
  run?: (run: ToolRun) => Promise<CallOutput>;
  resolve?: (run: ToolRun, traces: Traces) => Promise<CallOutput | 'not-started'>;
  approvalPolicy?: 'never' | 'always';
  tool?: string;
  dispatchPatienceMs?: number;
};

export function createProbe(options: ProbeOptions = {}): Probe {
  const journal = new Journal(join(createFolder(), 'journal.db'));
  onTestFinished(() => journal.close());
  const store = new StrictCallLog();
  const log: string[] = [];
  const tool: Tool = {
    spec,
    prepare: () =>
      Promise.resolve({
        kind: 'ready',
        question: 'probe: go?',
        evidence: { plan: 1 },
        run: (run) => {
          log.push('run');
          return options.run?.(run) ?? Promise.resolve(ok);
        },
      }),
    resolve: (run, traces) => {
      log.push(`resolve ${JSON.stringify(traces)}`);
      return options.resolve?.(run, traces) ?? Promise.resolve('not-started');
    },
    discard: (key) => {
      log.push(`discard ${key.split('/')[1]}`);
      return Promise.resolve();
    },
  };
  const executor = createCallExecutor({
    machineId: 'm1',
    bootId: 'boot-2',
    kernelBoot: 'kernel-1',
    store,
    journal,
    tools: new Map([['probe', tool]]),
    publishDelta: () => undefined,
    logger: silent,
    workspace: { begin: () => Promise.resolve([]), end: () => undefined, noteRead: () => undefined },
    ...(options.dispatchPatienceMs === undefined ? {} : { dispatchPatienceMs: options.dispatchPatienceMs }),
  });
  const { approvalPolicy = 'never', tool: name = 'probe' } = options;
  const request = store.add({ callId: '1.1.0', tool: name, input: '{}', cwd: '/', approvalPolicy });
  return { executor, store, journal, log, request, key: toCallKey(request) };
}

export function toRow(probe: Probe, given: Partial<JournalRow> = {}): JournalRow {
  const { request, key } = probe;
  return {
    ...request,
    key,
    tool: 'probe',
    fence: 1,
    bootId: 'boot-1',
    kernelBoot: 'kernel-1',
    evidence: { plan: 1 },
    ...given,
  };
}

/** An earlier boot of this machine claimed the call and died. */
export const claimEarlier = (probe: Probe) => probe.store.claimElsewhere('1.1.0', 'm1');
export const unknown = toShortOutput('unknown', 'nobody knows');
