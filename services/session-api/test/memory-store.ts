// memory-store.ts: the store as the public door sees it, strict: what is not allowed throws, and nothing is accepted twice.
import { Failure } from '@holdfast/failures';
import type {
  Approval,
  EventBody,
  Input,
  Machine,
  Session,
  SessionEvent,
  StoredItem,
  Turn,
} from '@holdfast/protocol';
import type { SessionStore } from '../src/ports/session-store.ts';

type Kept = {
  session: Session;
  context: StoredItem[];
  inputs: Map<string, Input>;
  events: SessionEvent[];
  turns: Turn[];
  approvals: Map<string, Approval>;
};

const at = '2026-11-21T10:00:00.000Z';

export class MemoryStore implements SessionStore {
  readonly machines: Machine[] = [];
  readonly blobs = new Map<string, { bytes: Uint8Array; mediaType: string }>();
  /** Names of the operations that were called, in order. */
  readonly calls: string[] = [];
  readonly #sessions = new Map<string, Kept>();

  kept(sessionId: string): Kept {
    const kept = this.#sessions.get(sessionId);
    if (!kept) throw new Failure('session.unknown');
    return kept;
  }

  /** What a worker would have written. */
  append(sessionId: string, turnId: string | null, ...bodies: EventBody[]): SessionEvent[] {
    const { events, session } = this.kept(sessionId);
    const added = bodies.map((body, index): SessionEvent => {
      const place = { seq: events.length + index + 1, sessionId, turnId, at };
      return Object.assign(place, body);
    });
    events.push(...added);
    session.lastEventSeq = events.length;
    return added;
  }

  /** What the engine would have made of an input. */
  startTurn(sessionId: string, turnId: string): void {
    const { turns, inputs, session } = this.kept(sessionId);
    const text = inputs.get(turnId)?.text ?? '';
    const usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningOutputTokens: 0 };
    turns.push({ turnId, ordinal: turns.length + 1, status: 'running', steps: 0, usage, startedAt: at });
    session.state = 'running';
    session.runningTurn = turnId;
    this.append(sessionId, turnId, {
      type: 'status',
      status: 'starting',
      ordinal: turns.length,
      input: { inputId: turnId, text },
    });
  }

  askApproval(sessionId: string, callId: string): string {
    const approvalId = `ap_${callId}`;
    this.kept(sessionId).approvals.set(approvalId, {
      approvalId,
      sessionId,
      callId,
      tool: 'exec_command',
      question: 'Run?',
    });
    return approvalId;
  }

  async createSession(request: Parameters<SessionStore['createSession']>[0]): Promise<Session> {
    this.calls.push('createSession');
    const existing = this.#sessions.get(request.sessionId);
    if (existing) return { ...existing.session };
    const { sessionId, title, settings } = request;
    if (!this.machines.some(({ machineId }) => machineId === settings.machineId))
      throw new Failure('machine.unknown');
    const session: Session = {
      sessionId,
      title,
      state: 'idle',
      settings,
      turns: 0,
      lastItemSeq: request.context.length,
      lastEventSeq: 0,
      createdAt: at,
      updatedAt: at,
    };
    const context = request.context.map((item, index) => ({ seq: index + 1, item }));
    const kept = { session, context, inputs: new Map(), events: [], turns: [], approvals: new Map() };
    this.#sessions.set(sessionId, kept);
    return { ...session };
  }

  async readSession({ sessionId }: { sessionId: string }): Promise<Session> {
    this.calls.push('readSession');
    return { ...this.kept(sessionId).session };
  }

  async listSessions({ limit }: { limit: number }): Promise<Session[]> {
    this.calls.push('listSessions');
    return [...this.#sessions.values()].slice(0, limit).map(({ session }) => session);
  }

  async closeSession({ sessionId }: { sessionId: string }): Promise<Session> {
    this.calls.push('closeSession');
    const { session, turns } = this.kept(sessionId);
    session.state = 'closed';
    const running = turns.find(({ status }) => status === 'running');
    if (running) this.#cancel(sessionId, running);
    return { ...session };
  }

  async addInput({ sessionId, input }: { sessionId: string; input: Input }): Promise<{ duplicate: boolean }> {
    this.calls.push('addInput');
    const { inputs, session } = this.kept(sessionId);
    if (inputs.has(input.inputId)) return { duplicate: true };
    if (session.state === 'closed') throw new Failure('session.closed');
    inputs.set(input.inputId, input);
    return { duplicate: false };
  }

  async listPendingInputs({
    after,
    limit,
  }: Parameters<SessionStore['listPendingInputs']>[0]): ReturnType<SessionStore['listPendingInputs']> {
    this.calls.push('listPendingInputs');
    const pending = [...this.#sessions.values()].flatMap(({ session, inputs, turns }) => {
      const ended = new Set(turns.filter(({ status }) => status !== 'running').map(({ turnId }) => turnId));
      return [...inputs.values()]
        .filter(({ inputId }) => !ended.has(inputId))
        .map(({ inputId, kind }) => ({ sessionId: session.sessionId, input: { inputId, kind } }));
    });
    return pending
      .map(({ sessionId, input }, index) => ({ position: index + 1, sessionId, input }))
      .filter(({ position }) => position > after)
      .slice(0, limit);
  }

  async listTurns({ sessionId }: { sessionId: string }): Promise<Turn[]> {
    this.calls.push('listTurns');
    return this.kept(sessionId).turns;
  }

  async readItems({
    sessionId,
    after,
    limit,
  }: Parameters<SessionStore['readItems']>[0]): Promise<StoredItem[]> {
    this.calls.push('readItems');
    return this.kept(sessionId)
      .context.filter(({ seq }) => seq > after)
      .slice(0, limit);
  }

  async readEvents({
    sessionId,
    after,
    limit,
  }: Parameters<SessionStore['readEvents']>[0]): Promise<SessionEvent[]> {
    this.calls.push('readEvents');
    return this.kept(sessionId).events.slice(after, after + limit);
  }

  async decideApproval({
    sessionId,
    approvalId,
    decision,
  }: Parameters<SessionStore['decideApproval']>[0]): Promise<Approval> {
    this.calls.push('decideApproval');
    const { approvals } = this.kept(sessionId);
    const approval = approvals.get(approvalId);
    if (!approval) throw new Failure('approval.unknown');
    if (approval.decision !== undefined && approval.decision !== decision)
      throw new Failure('approval.decided');
    const decided = { ...approval, decision };
    approvals.set(approvalId, decided);
    return decided;
  }

  async sealTurn({
    sessionId,
    turnId,
  }: Parameters<SessionStore['sealTurn']>[0]): ReturnType<SessionStore['sealTurn']> {
    this.calls.push('sealTurn');
    const { turns } = this.kept(sessionId);
    const turn = turns.find((candidate) => candidate.turnId === turnId);
    if (!turn) throw new Failure('input.invalid', { detail: `the session has no input ${turnId}` });
    if (turn.status === 'running') this.#cancel(sessionId, turn);
    return { status: turn.status === 'running' ? 'cancelled' : turn.status };
  }

  #cancel(sessionId: string, turn: Turn): void {
    const { session } = this.kept(sessionId);
    turn.status = 'cancelled';
    delete session.runningTurn;
    if (session.state !== 'closed') session.state = 'idle';
    this.append(sessionId, turn.turnId, { type: 'status', status: 'cancelled' });
  }

  async listMachines(): Promise<Machine[]> {
    this.calls.push('listMachines');
    return this.machines;
  }

  async readBlob({ digest }: { digest: string }): ReturnType<SessionStore['readBlob']> {
    this.calls.push('readBlob');
    const blob = this.blobs.get(digest);
    if (!blob) throw new Failure('blob.unknown');
    return blob;
  }
}

export function toMachine(name: string, kind: Machine['kind'] = 'machine'): Machine {
  return {
    machineId: `m-${name}`,
    kind,
    name,
    bootId: 'b1',
    online: true,
    lastSeenAt: at,
    capabilities: { platform: 'linux', arch: 'x64', hostname: name, workspace: `/srv/${name}`, protocol: 1 },
    tools: ['exec_command'],
  };
}
