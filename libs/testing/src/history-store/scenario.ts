// scenario.ts: one session on a store under test, and the steps of a turn in few words.
import { createHash, randomUUID } from 'node:crypto';
import type {
  CommitStep,
  HistoryStore,
  NewCall,
  OpenedStep,
  OpenStep,
  PendingInput,
} from '@holdfast/agent-loop';
import { Failure } from '@holdfast/failures';
import type {
  CallOutput,
  Catalog,
  Claim,
  EventBody,
  InputKind,
  Item,
  MachineKind,
  MachineRegistration,
  SessionEvent,
  ModelSettings,
  SessionSettings,
  StepReply,
  TokenUsage,
  TurnEnd,
} from '@holdfast/protocol';

/** A store under test; what only some adapters can show is optional, and its tests are left out for the others. */
export type StoreUnderTest = {
  store: HistoryStore;
  close(): Promise<void>;
  /** Everything `onEvents` was told, in the order it was told. */
  reported?: () => SessionEvent[];
  /** Makes every lease run out now. */
  expireLeases?: () => Promise<void>;
};

type OpenStepResult = Extract<OpenedStep, { kind: 'open' }>;
type RunClaim = Extract<Claim, { kind: 'run' }>;

export const usage: TokenUsage = {
  inputTokens: 100,
  cachedInputTokens: 40,
  outputTokens: 20,
  reasoningOutputTokens: 5,
};

export function toTestCatalog(...names: string[]): Catalog {
  const tools = names.map((name) => ({
    name,
    description: `runs ${name}`,
    placement: 'machine' as const,
    effects: 'execute' as const,
    supportsParallel: true,
    form: { kind: 'function' as const, parameters: { type: 'object' } },
  }));
  return { digest: createHash('sha256').update(JSON.stringify(tools)).digest('hex'), tools };
}

export function toRegistration(given: {
  name: string;
  kind?: MachineKind;
  bootId?: string;
  catalog?: Catalog;
}): MachineRegistration {
  return {
    machineId: `id-${given.name}`,
    kind: given.kind ?? 'machine',
    name: given.name,
    bootId: given.bootId ?? 'boot-1',
    catalog: given.catalog ?? toTestCatalog('exec_command'),
    capabilities: { platform: 'linux', arch: 'x64', hostname: 'host', workspace: '/work', protocol: 1 },
  };
}

export function toUniqueName(prefix: string): string {
  return `${prefix}-${randomUUID().slice(0, 12)}`;
}

export function toCallItem(call: NewCall): Item {
  const { modelCallId: call_id, tool: name, input } = call;
  return call.form === 'function'
    ? { type: 'function_call', call_id, name, arguments: input }
    : { type: 'custom_tool_call', call_id, name, input };
}

export function toNewCall(modelCallId: string, given: Partial<NewCall> = {}): NewCall {
  return {
    modelCallId,
    tool: 'exec_command',
    placement: 'machine',
    parallel: true,
    form: 'function',
    input: '{"cmd":"ls"}',
    ...given,
  };
}

export function toAssistantMessage(text: string): Item {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
}

export function toOutput(text: string, given: Partial<CallOutput> = {}): CallOutput {
  return { status: 'ok', text, tokens: 3, durationMs: 12, ...given };
}

/** The code of the failure that `work` ends with; undefined when it succeeds. */
export async function toCode(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof Failure) return error.code;
      throw error;
    },
  );
}

/** Events without what differs from run to run. */
function toBodies(events: readonly SessionEvent[]): EventBody[] {
  return events.map(({ seq: _seq, sessionId: _sessionId, turnId: _turnId, at: _at, ...body }) => body);
}

export type Scenario = {
  store: HistoryStore;
  sessionId: string;
  settings: SessionSettings;
  machine: MachineRegistration;
  send: (inputId: string, kind?: InputKind) => Promise<void>;
  tryOpen: (turnId: string, step: number, more?: Partial<OpenStep>) => Promise<OpenedStep>;
  /** Opens a step that must be open; the first step of a turn names the turn's own input. */
  open: (turnId: string, step: number, more?: Partial<OpenStep>) => Promise<OpenStepResult>;
  commit: (turnId: string, step: number, more?: Partial<CommitStep>) => Promise<StepReply>;
  /** Sends an input, opens the first step of its turn and commits these calls. */
  startCalls: (turnId: string, calls: NewCall[]) => Promise<OpenStepResult>;
  claim: (callId: string, bootId?: string) => Promise<Claim>;
  claimToRun: (callId: string, bootId?: string) => Promise<RunClaim>;
  finish: (callId: string, fence: number, output?: CallOutput) => ReturnType<HistoryStore['finishCall']>;
  seal: (turnId: string, end: TurnEnd) => ReturnType<HistoryStore['sealTurn']>;
  bodies: () => Promise<EventBody[]>;
  events: () => Promise<SessionEvent[]>;
  items: () => Promise<Item[]>;
};

/** A fresh session on a fresh machine that is online. */
export async function openScenario(
  store: HistoryStore,
  given: { context?: Item[]; model?: Partial<ModelSettings> } = {},
): Promise<Scenario> {
  const sessionId = randomUUID();
  const machine = toRegistration({ name: toUniqueName('laptop') });
  await store.registerMachine(machine);
  const settings: SessionSettings = {
    cwd: '/work',
    machineId: machine.machineId,
    model: { name: 'scripted', ...given.model },
    approvalPolicy: 'never',
  };
  await store.createSession({ sessionId, title: 'a title', settings, context: given.context ?? [] });
  const scenario: Scenario = {
    store,
    sessionId,
    settings,
    machine,
    ...createSteps(store, sessionId),
    ...createCalls(store, { sessionId, machineId: machine.machineId }),
    events: () => store.readEvents({ sessionId, after: 0, limit: 1000 }),
    bodies: async () => toBodies(await scenario.events()),
    items: async () =>
      (await store.readItems({ sessionId, after: 0, limit: 1000 })).map((stored) => stored.item),
    startCalls: async (turnId, calls) => {
      await scenario.send(turnId);
      const opened = await scenario.open(turnId, 1);
      await scenario.commit(turnId, 1, { items: calls.map(toCallItem), calls });
      return opened;
    },
  };
  return scenario;
}

function createSteps(store: HistoryStore, sessionId: string) {
  const tryOpen: Scenario['tryOpen'] = (turnId, step, more) =>
    store.openStep({ sessionId, turnId, step, inputs: step === 1 ? [turnId] : [], ...more });
  return {
    tryOpen,
    send: async (inputId: string, kind: InputKind = 'prompt') => {
      await store.addInput({ sessionId, input: { inputId, kind, text: `text of ${inputId}` } });
    },
    open: async (turnId: string, step: number, more?: Partial<OpenStep>) => {
      const opened = await tryOpen(turnId, step, more);
      if (opened.kind !== 'open') throw new Error(`step ${step} of ${turnId} is ${opened.kind}`);
      return opened;
    },
    commit: (turnId: string, step: number, more?: Partial<CommitStep>) =>
      store.commitStep({
        sessionId,
        turnId,
        step,
        fence: 1,
        ordinal: 1,
        responseId: `response-${turnId}-${step}`,
        items: [],
        calls: [],
        usage,
        contextTokens: 120,
        endTurn: (more?.calls?.length ?? 0) === 0,
        ...more,
      }),
    seal: (turnId: string, end: TurnEnd) => store.sealTurn({ sessionId, turnId, end }),
  };
}

function createCalls(store: HistoryStore, place: { sessionId: string; machineId: string }) {
  const claim: Scenario['claim'] = (callId, bootId = 'boot-1') =>
    store.claimCall({ ...place, callId, bootId });
  return {
    claim,
    claimToRun: async (callId: string, bootId?: string) => {
      const claimed = await claim(callId, bootId);
      if (claimed.kind !== 'run') throw new Error(`the claim of ${callId} is ${claimed.kind}`);
      return claimed;
    },
    finish: (callId: string, fence: number, output: CallOutput = toOutput(`output of ${callId}`)) =>
      store.finishCall({ sessionId: place.sessionId, callId, fence, output }),
  };
}

/** Every pending input of the store, read in pages. */
export async function listPending(store: HistoryStore, quietMs = 0, limit = 1000): Promise<PendingInput[]> {
  const pending: PendingInput[] = [];
  for (;;) {
    const page = await store.listPendingInputs({ quietMs, after: pending.at(-1)?.position ?? 0, limit });
    pending.push(...page);
    if (page.length < limit) return pending;
  }
}
