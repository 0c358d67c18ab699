export { defineFunctionTool, plainText } from './function-tool.ts';
export type { FunctionTool, FunctionToolDefinition, ReadArguments } from './function-tool.ts';
