import type { Effects, ToolSpec } from '@holdfast/protocol';
// tool-caller.ts: the port between running a call and the MCP servers, and everything that may come of a call.
import type { CallToolResult } from '@modelcontextprotocol/client';

export type ProgressNote = { progress: number; total?: number; message?: string };

export type ToolRequest = {
  /** Decoded arguments. */
  arguments: Record<string, unknown>;
  signal: AbortSignal;
  /** Called in the order in which the notes arrive, and never after the outcome. */
  onProgress: (note: ProgressNote) => void;
};

/** What a tool answered; `failed` when it says that it failed. */
export type ToolAnswer = { content: CallToolResult['content']; structuredContent?: unknown; failed: boolean };

export type ToolOutcome =
  | { kind: 'answered'; answer: ToolAnswer }
  /** The server, or the gateway for it, declined: nothing was done. */
  | { kind: 'refused'; reason: string }
  /** The request never reached the server. */
  | { kind: 'away'; reason: string }
  /** The connection ended while the server had the request. */
  | { kind: 'lost'; reason: string }
  | { kind: 'timed-out'; limitMs: number }
  /** The server wants something from a client that nobody here can give, such as an elicitation or a sampling. */
  | { kind: 'needs-client'; request: string };

export type FoundTool =
  | {
      kind: 'tool';
      spec: Pick<ToolSpec, 'name' | 'effects'>;
      server: string;
      call: (request: ToolRequest) => Promise<ToolOutcome>;
    }
  /** No such tool is known, but the server that would have it did not offer its tools yet. */
  | { kind: 'server-away'; server: string; reason: string }
  | { kind: 'unknown' };

/** Everything but `call` of what is found is immediate. `call` throws only `signal.reason`, after an abort. */
export interface ToolCaller {
  find(tool: string): FoundTool;
}

/** Looking may be done twice; everything else may not. */
export function isRepeatable(effects: Effects): boolean {
  return effects === 'none' || effects === 'read';
}
