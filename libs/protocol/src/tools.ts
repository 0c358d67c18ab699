import type { Digest } from './ids.ts';

/** Who runs a tool: the session's machine, the MCP gateway, the engine of the session itself, or the model's provider. */
export type Placement = 'machine' | 'gateway' | 'workflow' | 'model';

/** Who runs a call. The provider runs its own tools inside of the reply, so they never become calls. */
export type CallPlacement = Exclude<Placement, 'model'>;

/** Which tools a model is offered: those of Codex, with the file tools besides, or only commands and patches. */
export type ToolProfile = 'codex' | 'files' | 'minimal';

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
  /** The profiles that offer it; without them every profile does. Tools that are not offered still run when they are called. */
  profiles?: ToolProfile[];
  form:
    | { kind: 'function'; parameters: Record<string, unknown> }
    | { kind: 'freeform'; syntax: 'lark' | 'regex'; definition: string }
    /** Run by the model's provider, which knows it by this type. */
    | { kind: 'hosted'; type: 'web_search' };
};

/** The tools that a machine or a gateway offers; equal tools give an equal digest. */
export type Catalog = { digest: Digest; tools: ToolSpec[] };
