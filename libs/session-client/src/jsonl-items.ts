// jsonl-items.ts: how a tool call looks in the vocabulary of `codex exec --json`.
import type { CallStatus, EventBody, FileChange } from '@holdfast/protocol';

type ItemStatus = 'in_progress' | 'completed' | 'failed' | 'declined';

type CommandItem = {
  type: 'command_execution';
  command: string;
  aggregated_output: string;
  exit_code: number | null;
  status: ItemStatus;
};
type FileChangeItem = { type: 'file_change'; changes: FileChange[]; status: ItemStatus };
type McpToolCallItem = {
  type: 'mcp_tool_call';
  server: string;
  tool: string;
  arguments: unknown;
  result: { content: { type: 'text'; text: string }[]; structured_content: null } | null;
  error: { message: string } | null;
  status: ItemStatus;
};
export type ToolItem = CommandItem | FileChangeItem | McpToolCallItem;

type ToolCall = Extract<EventBody, { type: 'tool_call' }>;
type ToolResult = Extract<EventBody, { type: 'tool_result' }>;

/** The `server` under which tools appear that are neither commands, patches nor MCP tools. */
const ownServer = 'holdfast';
const mcpName = /^mcp__(?<server>.+?)__(?<tool>.+)$/;

/** The item as it starts. A patch is an item only when it has ended; undefined says so. */
export function toStartedItem(call: ToolCall): ToolItem | undefined {
  if (call.tool === 'exec_command') return toCommandItem(call);
  if (call.tool === 'apply_patch') return undefined;
  const name = mcpName.exec(call.tool)?.groups;
  return {
    type: 'mcp_tool_call',
    server: name?.['server'] ?? ownServer,
    tool: name?.['tool'] ?? call.tool,
    arguments: parseJson(call.input),
    result: null,
    error: null,
    status: 'in_progress',
  };
}

/** The item as it ends; `result` is absent when the turn ended before the call did. */
export function toEndedItem(call: ToolCall, result: ToolResult | undefined): ToolItem {
  const status = result ? toItemStatus(result.status, result.exitCode) : 'failed';
  const item = toStartedItem(call);
  if (!item) return { type: 'file_change', changes: result?.changes ?? toChanges(call.input), status };
  if (item.type === 'command_execution') {
    const aggregated_output = toPlainOutput(result?.text ?? '');
    return { ...item, aggregated_output, exit_code: result?.exitCode ?? null, status };
  }
  if (item.type === 'file_change') return { ...item, status };
  const text = result?.text ?? 'the turn ended before this call did';
  if (status !== 'completed') return { ...item, error: { message: text }, status };
  return {
    ...item,
    result: { content: [{ type: 'text', text: toPlainOutput(text) }], structured_content: null },
    status,
  };
}

function toCommandItem(call: ToolCall): CommandItem {
  const input = parseJson(call.input);
  const command = isRecord(input) && typeof input['cmd'] === 'string' ? input['cmd'] : call.input;
  return {
    type: 'command_execution',
    command,
    aggregated_output: '',
    exit_code: null,
    status: 'in_progress',
  };
}

function toItemStatus(status: CallStatus, exitCode: number | undefined): ItemStatus {
  switch (status) {
    case 'ok':
      return (exitCode ?? 0) === 0 ? 'completed' : 'failed';
    case 'denied':
      return 'declined';
    case 'failed':
    case 'aborted':
    case 'unknown':
      return 'failed';
  }
}

const layout = /^(?:Chunk ID: .*\n)?Wall time: .*\n(?:Process .*\n)?(?:Original token count: .*\n)?Output:\n/;

/** The output without the lines that are for the model only. */
function toPlainOutput(text: string): string {
  return text.replace(layout, '');
}

const patchHeader = /^\*\*\* (?<kind>Add|Update|Delete) File: (?<path>.+?)\s*$/gm;
const kinds: Record<string, FileChange['kind']> = { Add: 'add', Update: 'update', Delete: 'delete' };

/** What a patch that did not apply was about to change. */
function toChanges(patch: string): FileChange[] {
  return [...patch.matchAll(patchHeader)].map(({ groups }) => ({
    path: groups?.['path'] ?? '',
    kind: kinds[groups?.['kind'] ?? ''] ?? 'update',
  }));
}

/** JSON text as a value; text that is no JSON stays text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
