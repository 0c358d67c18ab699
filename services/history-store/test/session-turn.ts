// session-turn.ts: a running turn that asks for calls of the session itself, and processes that die while they run one.
import { randomUUID } from 'node:crypto';
import type { HistoryStore } from '@holdfast/agent-loop';
import type { SessionEvent } from '@holdfast/protocol';
import { createSessionCallRunner } from '@holdfast/session-tools';
import { createMemoryStore } from '../src/index.ts';

const usage = { inputTokens: 100, cachedInputTokens: 40, outputTokens: 20, reasoningOutputTokens: 5 };

/** A running turn on a store in memory whose clock the test sets; each `ask` is a step with one call. */
export async function openTurn() {
  const clock = { now: 1_000_000 };
  const events: SessionEvent[] = [];
  const store = createMemoryStore({ onEvents: (news) => events.push(...news), now: () => clock.now });
  const sessionId = randomUUID();
  await store.registerMachine({
    machineId: 'm',
    kind: 'machine',
    name: 'laptop',
    bootId: 'b',
    catalog: { digest: 'c'.repeat(64), tools: [] },
    capabilities: { platform: 'linux', arch: 'x64', hostname: 'h', workspace: '/w', protocol: 1 },
  });
  const settings = { cwd: '/w', machineId: 'm', model: { name: 'm' }, approvalPolicy: 'never' as const };
  await store.createSession({ sessionId, title: '', settings, context: [] });
  await store.addInput({ sessionId, input: { inputId: 'a', kind: 'prompt', text: 'go' } });
  let step = 0;
  const ask = async (tool: string, input: unknown) => {
    step += 1;
    const opened = await store.openStep({ sessionId, turnId: 'a', step, inputs: step === 1 ? ['a'] : [] });
    if (opened.kind !== 'open') throw new Error('the step is not open');
    const { fence, ordinal } = opened;
    const call = { modelCallId: `c${step}`, tool, placement: 'workflow', parallel: false } as const;
    await store.commitStep({
      sessionId,
      turnId: 'a',
      step,
      fence,
      ordinal,
      responseId: `r${step}`,
      items: [],
      calls: [
        { ...call, form: 'function', input: typeof input === 'string' ? input : JSON.stringify(input) },
      ],
      usage,
      contextTokens: 1,
      endTurn: false,
    });
    return { sessionId, callId: `1.${step}.0` };
  };
  const lastOutput = async () => {
    const items = await store.readItems({ sessionId, after: 0, limit: 100 });
    const item = items.at(-1)?.item;
    return item?.type === 'function_call_output' ? item.output : undefined;
  };
  const runner = createSessionCallRunner({ store, now: () => clock.now });
  const run = async (tool: string, input: unknown) => {
    await runner.run(await ask(tool, input));
    return (await lastOutput()) ?? '';
  };
  return { clock, events, store, sessionId, ask, lastOutput, runner, run };
}

/** The store as a process sees it that dies in the middle of the named operation: before it, or after it and before its answer. */
export function dyingAt(
  store: HistoryStore,
  operation: 'finishCall' | 'parkCall' | 'askApproval',
  when: 'before' | 'after',
): HistoryStore {
  const die = async (request: never) => {
    if (when === 'after') await store[operation](request);
    throw new Error('the process died');
  };
  return { ...store, [operation]: die };
}
