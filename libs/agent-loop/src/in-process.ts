// in-process.ts: the loop without Temporal, the semantic baseline of the durable engine.
// Survives nothing: what it promises is the same order of events, from the same loop, over the same store operations.
import { Failure } from '@holdfast/failures';
import type {
  ApprovalDecision,
  CallRef,
  CallResult,
  InputId,
  InputKind,
  SessionId,
  TurnId,
} from '@holdfast/protocol';
import type { EventLog } from './event-log.ts';
import type { AgentSession, ModelStreamer, ToolCallHandler, TurnPorts } from './ports.ts';
import {
  acceptInput,
  createQueue,
  endTurn,
  requestToolRefresh,
  takeTurn,
  type SessionQueue,
} from './session.ts';
import type { HistoryStore } from './store.ts';
import { runTurn } from './turn.ts';

/** Runs one call as far as it goes; the engine waits for approvals itself. */
export type CallRunner = {
  run(request: { sessionId: SessionId; call: CallRef }, signal: AbortSignal): Promise<CallResult>;
};

export type InProcessEngineOptions = {
  store: HistoryStore;
  model: ModelStreamer;
  /** One runner a placement; a call without a runner is answered with a failure that the model reads. */
  runners: Partial<Record<CallRef['placement'], CallRunner>>;
  /** Told of everything the store commits; the owner of the store connects it. */
  log: EventLog;
};

type Running = {
  queue: SessionQueue;
  abort?: AbortController;
  loop?: Promise<void>;
  decisions: Map<string, PromiseWithResolvers<void>>;
};

export class InProcessEngine {
  readonly #options: InProcessEngineOptions;
  readonly #sessions = new Map<SessionId, Running>();

  constructor(options: InProcessEngineOptions) {
    this.#options = options;
  }

  /** The session must exist in the store. */
  open(sessionId: SessionId): AgentSession {
    const running: Running = { queue: createQueue(sessionId), decisions: new Map() };
    this.#sessions.set(sessionId, running);
    return {
      sessionId,
      submit: (input) => this.#accept(running, input, 'prompt'),
      steer: (input) => this.#accept(running, input, 'steer'),
      interrupt: (turn) => this.#interrupt(running, turn?.turnId ?? running.queue.turn?.turnId),
      approve: (answer) => this.#approve(running, answer),
      refreshTools: () => Promise.resolve(requestToolRefresh(running.queue)),
      close: () => this.#close(running),
      events: (options) => this.#options.log.read(this.#options.store, sessionId, options),
    };
  }

  async #accept(running: Running, input: { inputId: InputId; text: string }, kind: InputKind): Promise<void> {
    const { sessionId } = running.queue;
    const { duplicate } = await this.#options.store.addInput({ sessionId, input: { ...input, kind } });
    if (duplicate) return;
    acceptInput(running.queue, { inputId: input.inputId, kind });
    running.loop ??= this.#runTurns(running).finally(() => delete running.loop);
  }

  async #runTurns(running: Running): Promise<void> {
    const { queue } = running;
    const { store } = this.#options;
    for (let turn = takeTurn(queue); turn; turn = takeTurn(queue)) {
      running.abort = new AbortController();
      const { signal } = running.abort;
      const outcome = await runTurn(this.#toPorts(running), turn, { sessionId: queue.sessionId, signal });
      if (outcome.kind === 'ended') {
        await store.sealTurn({ sessionId: queue.sessionId, turnId: turn.turnId, end: outcome.end });
      }
      endTurn(queue);
    }
  }

  #toPorts(running: Running): TurnPorts {
    const calls: ToolCallHandler = {
      run: async ({ sessionId, call }, signal) => {
        const runner = this.#options.runners[call.placement];
        if (!runner) return this.#refuse(sessionId, call);
        for (;;) {
          const result = await runner.run({ sessionId, call }, signal);
          if (result.kind !== 'awaiting-approval') return result;
          await waitForDecision(running, result.approvalId, signal);
        }
      },
    };
    return { model: this.#options.model, calls };
  }

  async #refuse(sessionId: SessionId, call: CallRef): Promise<CallResult> {
    const text = `unsupported call: ${call.tool}`;
    const output = { status: 'failed' as const, text, tokens: Math.ceil(text.length / 4), durationMs: 0 };
    return {
      kind: 'finished',
      ...(await this.#options.store.settleCall({ sessionId, callId: call.callId, output })),
    };
  }

  async #interrupt(running: Running, turnId: TurnId | undefined): Promise<void> {
    if (turnId === undefined) throw new Failure('session.not-running');
    const { sessionId } = running.queue;
    await this.#options.store.sealTurn({ sessionId, turnId, end: { kind: 'cancelled' } });
    if (running.queue.turn?.turnId === turnId) running.abort?.abort();
  }

  async #approve(
    running: Running,
    answer: { approvalId: string; decision: ApprovalDecision },
  ): Promise<void> {
    await this.#options.store.decideApproval({ sessionId: running.queue.sessionId, ...answer });
    toDecision(running, answer.approvalId).resolve();
  }

  async #close(running: Running): Promise<void> {
    running.queue.closing = true;
    running.abort?.abort();
    await running.loop;
    await this.#options.store.closeSession({ sessionId: running.queue.sessionId });
    this.#sessions.delete(running.queue.sessionId);
  }
}

/** The answer may come before the call has begun to wait for it. */
function toDecision(running: Running, approvalId: string): PromiseWithResolvers<void> {
  const decision = running.decisions.get(approvalId) ?? Promise.withResolvers<void>();
  running.decisions.set(approvalId, decision);
  return decision;
}

async function waitForDecision(running: Running, approvalId: string, signal: AbortSignal): Promise<void> {
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([toDecision(running, approvalId).promise, stopped.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
