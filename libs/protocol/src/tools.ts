import type { Digest } from './ids.ts';

/** Who runs a call: the session's machine, the MCP gateway, or the workflow itself. */
export type Placement = 'machine' | 'gateway' | 'workflow';

/** What a tool may do to the world; decides about approvals and about running a call again. */
export type Effects = 'none' | 'read' | 'write' | 'execute';

export type ToolSpec = {
  /** As the model calls it; MCP tools are `mcp__<server>__<tool>`. */
  name: string;
  description: string;
  placement: Placement;
  effects: Effects;
  /** False: runs alone in its step. */
  supportsParallel: boolean;
  form:
    | { kind: 'function'; parameters: Record<string, unknown> }
    | { kind: 'freeform'; syntax: 'lark' | 'regex'; definition: string };
};

/** The tools that a machine or a gateway offers; equal tools give an equal digest. */
export type Catalog = { digest: Digest; tools: ToolSpec[] };
