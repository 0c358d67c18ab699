// ports.ts: what one model call needs from outside.
import type { ModelStreamer, SampleRequest } from '@holdfast/agent-loop';
import type {
  Delta,
  Item,
  ModelSettings,
  SessionId,
  StepReply,
  TokenUsage,
  TurnId,
} from '@holdfast/protocol';
import type { ModelRequestBody } from './model-request.ts';

/**
 * A model that can be called: `name` as its endpoint knows it, `baseUrl` without `/responses`; `hosted` names the tools that the
 * endpoint runs itself.
 */
export type ResolvedModel = { name: string; baseUrl: string; apiKey: string; hosted: readonly string[] };

export interface ModelDirectory {
  /** @throws Failure model.unauthorized (no usable key), input.invalid (the session's script is none) */
  resolve(sessionId: SessionId, settings: ModelSettings): Promise<ResolvedModel>;
  /** Idempotent. */
  close(): Promise<void>;
}

export type ModelCall = {
  model: Pick<ResolvedModel, 'baseUrl' | 'apiKey'>;
  body: ModelRequestBody;
  /** Called for each piece of live output, in order; must not throw. */
  onDelta: (kind: 'text' | 'reasoning', text: string) => void;
};

/** A complete reply; call ids are as the provider gave them, so they may repeat. */
export type ModelReply = { responseId: string; items: Item[]; usage: TokenUsage; endTurn: boolean };

export interface ModelClient {
  /**
   * One request, one streamed reply; never repeated here. The connection ends at once when `signal` aborts.
   * @throws Failure model.*, or the signal's reason
   */
  stream(call: ModelCall, signal: AbortSignal): Promise<ModelReply>;
}

/** Live output on its way to viewers; may be lost, must not throw. */
export type DeltaSink = { publishDelta(delta: Delta): void };

/** Where the attempts at a step stand: `number` is from 1; `networkWaits` of the earlier ones ended because there was no network. */
export type SampleAttempt = { number: number; networkWaits: number };

/** A `ModelStreamer` that makes one attempt, for callers that repeat: Temporal, or `withRetries`. */
export interface AttemptStreamer extends ModelStreamer {
  sample(request: SampleRequest, signal: AbortSignal, attempt?: SampleAttempt): Promise<StepReply>;
}

/** Tells a machine which calls it is about to be given; may be lost, must not throw. */
export type CallAnnouncer = {
  publishCalls(machineId: string, hint: { sessionId: SessionId; turnId: TurnId; callIds: string[] }): void;
};
