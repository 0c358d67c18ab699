import type { OutputStyle } from './bounded-text.ts';
import type { ApprovalPolicy } from './calls.ts';
import type { SessionId, TurnId } from './ids.ts';
import type { ToolProfile } from './tools.ts';

/** Counted once per provider response id. `cachedInputTokens` is part of `inputTokens`, `reasoningOutputTokens` of `outputTokens`. */
export type TokenUsage = {
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
  reasoningOutputTokens: number;
};

export const noUsage: TokenUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};

/** Where a session's model is. Without `endpoint` the LLM worker's own configuration decides. */
export type ModelSettings = {
  name: string;
  endpoint?: {
    baseUrl: string;
    /** The caller's key, sealed with the installation's secret key; never the key itself. */
    sealedKey?: string;
  };
  /** A script for the scripted model (JSON text); only meant for tests, demos and trials. */
  script?: string;
  /** What the model is offered; default `codex`. */
  tools?: ToolProfile;
  /** How outputs of tools are cut for it; default `tokens`. */
  outputStyle?: OutputStyle;
};

export type SessionSettings = {
  /** Absolute path on the machine. */
  cwd: string;
  machineId: string;
  model: ModelSettings;
  approvalPolicy: ApprovalPolicy;
};

export type SessionState = 'idle' | 'running' | 'waiting' | 'closed';

export type Session = {
  sessionId: SessionId;
  /** First line of the first prompt, at most 80 characters. */
  title: string;
  state: SessionState;
  settings: SessionSettings;
  turns: number;
  /** The turn that has started and not ended. */
  runningTurn?: TurnId;
  lastItemSeq: number;
  lastEventSeq: number;
  createdAt: string;
  updatedAt: string;
};
