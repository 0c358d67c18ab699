import type { Tool } from './tool.ts';
import { createApplyPatch } from './tools/apply-patch/apply-patch.ts';
import { createExecCommand, type ExecCommandOptions } from './tools/exec-command/exec-command.ts';

/** Every tool of a machine, by the name the model calls it. */
export function createRegistry(options: ExecCommandOptions): ReadonlyMap<string, Tool> {
  const tools = [createExecCommand(options), createApplyPatch()];
  return new Map(tools.map((tool) => [tool.spec.name, tool]));
}
