import type { ToolSpec } from '@holdfast/protocol';
import type { Tool } from '@modelcontextprotocol/client';

/** What the model is told of an MCP tool. A tool without a hint that it only reads counts as one that acts. */
export function toToolSpec(tool: Tool, options: { name: string; supportsParallel: boolean }): ToolSpec {
  const { $schema: _dialect, ...schema } = tool.inputSchema;
  return {
    name: options.name,
    description: tool.description ?? tool.title ?? tool.annotations?.title ?? '',
    placement: 'gateway',
    effects: tool.annotations?.readOnlyHint === true ? 'read' : 'execute',
    supportsParallel: options.supportsParallel,
    form: { kind: 'function', parameters: { properties: {}, ...schema } },
  };
}
