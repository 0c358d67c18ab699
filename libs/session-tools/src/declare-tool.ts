import { defineFunctionTool, type FunctionToolDefinition } from '@holdfast/tool-spec';
import type { z } from 'zod';
import { toFailed, type SessionTool, type Step, type Surroundings } from './session-tool.ts';

type Declared<Schema extends z.ZodObject> = Omit<
  FunctionToolDefinition<Schema>,
  'placement' | 'effects' | 'supportsParallel' | 'profiles'
>;

/** A tool of the session: runs alone in its step, and every profile but `minimal` offers it. */
export function declareTool<Schema extends z.ZodObject>(
  declared: Declared<Schema>,
  decide: (given: z.output<Schema>, surroundings: Surroundings) => Promise<Step> | Step,
): SessionTool {
  const tool = defineFunctionTool({
    ...declared,
    placement: 'workflow',
    effects: 'none',
    profiles: ['codex', 'files'],
  });
  return {
    spec: tool.spec,
    decide: async (surroundings) => {
      const given = tool.readArguments(surroundings.call.input);
      return given.kind === 'refused' ? toFailed(given.text) : decide(given.value, surroundings);
    },
  };
}
