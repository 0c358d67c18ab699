// commands.ts: any sequence of store operations as data, so that a failing one can be shrunk, shown and run on another store.
// Commands name calls, steps and fences relative to what earlier answers told, so that most of them mean something.
import type { HistoryStore } from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import type { TurnEnd } from '@holdfast/protocol';
import * as fc from 'fast-check';
import { toCallItem, toNewCall, toOutput, usage } from './scenario.ts';

const inputIds = ['a', 'b', 'c', 'd'] as const;

const inputId = fc.constantFrom(...inputIds);
/** An index into the known calls, newest first. */
const call = fc.nat({ max: 3 });
/** Mostly the newest attempt; sometimes one that was fenced off. */
const age = fc.constantFrom(0, 0, 0, 1);
const end = fc.constantFrom<TurnEnd>(
  { kind: 'completed' },
  { kind: 'cancelled' },
  { kind: 'error', error: { code: 'model.failed', message: 'failed' } },
);

const commandArbitrary = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      inputId,
      kind: fc.constantFrom('prompt' as const, 'steer' as const),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('open' as const),
      inputId,
      step: fc.constantFrom(1, 1, 1, 0, 2),
      steer: fc.option(inputId, { nil: undefined }),
      refreshTools: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('commit' as const),
      inputId,
      age,
      calls: fc.nat({ max: 3 }),
      response: fc.nat({ max: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('retry' as const),
      inputId,
      age,
      waiting: fc.constantFrom(undefined, 'network' as const, 'api-limit' as const),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('claim' as const), call }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('finish' as const), call, age }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('settle' as const), call }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('ask' as const), call, age }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('decide' as const),
      call,
      decision: fc.constantFrom('accept' as const, 'decline' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('progress' as const), call, age, progress: fc.nat({ max: 2 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      inputId,
      reason: fc.constantFrom('machine' as const, 'api-limit' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('seal' as const), inputId, end }) },
);

type Command = typeof commandArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

export const commandsArbitrary = fc.array(commandArbitrary, { minLength: 5, maxLength: 60 });

export type Run = { store: HistoryStore; sessionId: string; machineId: string };

/** What earlier answers told. */
type Memo = {
  steps: Map<string, { step: number; fence: number }>;
  calls: string[];
  fences: Map<string, number>;
};

/** The outcome of each command: its answer, or the code of its failure. */
export async function runCommands(run: Run, commands: readonly Command[]): Promise<unknown[]> {
  const memo: Memo = { steps: new Map(), calls: [], fences: new Map() };
  const outcomes: unknown[] = [];
  for (const command of commands) {
    const outcome = await runCommand(run, memo, command).catch((error: unknown) => {
      if (error instanceof Failure) return error.code;
      throw error;
    });
    outcomes.push(outcome);
  }
  for (const id of inputIds) {
    await run.store
      .sealTurn({ sessionId: run.sessionId, turnId: id, end: { kind: 'completed' } })
      .catch(() => undefined);
  }
  return outcomes;
}

function runCommand(run: Run, memo: Memo, command: Command): Promise<unknown> {
  const { store, sessionId } = run;
  switch (command.do) {
    case 'send':
      return store.addInput({
        sessionId,
        input: { inputId: command.inputId, kind: command.kind, text: command.inputId },
      });
    case 'open':
    case 'commit':
    case 'retry':
      return runStepCommand(run, memo, command);
    case 'wait':
      return store.noteWaiting({
        sessionId,
        turnId: command.inputId,
        reason: command.reason,
        detail: 'detail',
      });
    case 'seal':
      return store.sealTurn({ sessionId, turnId: command.inputId, end: command.end });
    case 'claim':
    case 'finish':
    case 'settle':
    case 'ask':
    case 'decide':
    case 'progress':
      return runCallCommand(run, memo, command);
  }
}

async function runStepCommand(
  run: Run,
  memo: Memo,
  command: Extract<Command, { do: 'open' | 'commit' | 'retry' }>,
) {
  const { store, sessionId } = run;
  const turnId = command.inputId;
  const known = memo.steps.get(turnId) ?? { step: 0, fence: 1 };
  if (command.do === 'open') {
    const step = Math.max(1, known.step + command.step);
    const inputs = [...(step === 1 ? [turnId] : []), ...(command.steer ? [command.steer] : [])];
    const opened = await store.openStep({
      sessionId,
      turnId,
      step,
      inputs,
      refreshTools: command.refreshTools,
    });
    if (opened.kind === 'open') memo.steps.set(turnId, { step, fence: opened.fence });
    return opened;
  }
  const fence = Math.max(1, known.fence - command.age);
  const step = Math.max(1, known.step);
  if (command.do === 'retry') {
    return store.noteFailure({
      sessionId,
      turnId,
      step,
      fence,
      error: { code: 'model.stream-cut', message: 'cut' },
      willRetry: true,
      ...(command.waiting ? { waiting: command.waiting } : {}),
    });
  }
  const calls = Array.from({ length: command.calls }, (_, index) =>
    toNewCall(`${turnId}-${step}-${index}`, { form: index === 1 ? 'freeform' : 'function' }),
  );
  const reply = await store.commitStep({
    sessionId,
    turnId,
    step,
    fence,
    ordinal: 1,
    responseId: `response-${command.response}`,
    items: calls.map(toCallItem),
    calls,
    usage,
    contextTokens: 5,
    endTurn: calls.length === 0,
  });
  if (reply.kind === 'reply')
    memo.calls.unshift(...reply.calls.map((ref) => ref.callId).filter((id) => !memo.calls.includes(id)));
  return reply;
}

type CallCommand = Extract<Command, { do: 'claim' | 'finish' | 'settle' | 'ask' | 'decide' | 'progress' }>;

async function runCallCommand(run: Run, memo: Memo, command: CallCommand): Promise<unknown> {
  const { store, sessionId, machineId } = run;
  const callId = memo.calls[command.call] ?? '1.1.0';
  const newest = memo.fences.get(callId) ?? 0;
  const fence = 'age' in command ? Math.max(0, newest - command.age) : newest;
  switch (command.do) {
    case 'claim': {
      const claim = await store.claimCall({ sessionId, callId, machineId, bootId: 'boot-1' });
      if ('fence' in claim) memo.fences.set(callId, claim.fence);
      return claim;
    }
    case 'finish':
      return store.finishCall({ sessionId, callId, fence, output: toOutput(`done ${callId}`) });
    case 'settle':
      return store.settleCall({ sessionId, callId, output: toOutput('settled', { status: 'unknown' }) });
    case 'ask':
      return store.askApproval({ sessionId, callId, fence, question: 'May it?' });
    case 'decide':
      return store.decideApproval({ sessionId, approvalId: `ap_${callId}`, decision: command.decision });
    case 'progress':
      return store.appendProgress({ sessionId, callId, fence, progress: command.progress });
  }
}
