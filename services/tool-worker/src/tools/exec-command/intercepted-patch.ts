// intercepted-patch.ts: a command that is nothing but a here-document for apply_patch is that patch, and reaches no shell.
import { resolve } from 'node:path';
import type { CallDetail, CallOutput } from '@holdfast/protocol';
import { toTokens } from '../../call-outputs.ts';
import type { Tool } from '../../tool.ts';
import type { ApplyPatch } from '../apply-patch/apply-patch.ts';
import { toInterceptedPatch } from '../apply-patch/heredoc.ts';
import { parseArguments } from './spec.ts';

export function withInterceptedPatches(execCommand: Tool, applyPatch: ApplyPatch): Tool {
  return {
    ...execCommand,
    prepare: async (call) => {
      const patch = toPatchCall(call);
      if (!patch) return execCommand.prepare(call);
      const prepared = await applyPatch.prepareIn(patch.call, patch.cwd);
      if (prepared.kind === 'refused') return prepared;
      return {
        ...prepared,
        effects: 'write',
        run: async (run) => toNested(await prepared.run({ ...run, call: patch.call })),
      };
    },
    resolve: async (run, traces) => {
      const patch = toPatchCall(run.call);
      if (!patch) return execCommand.resolve(run, traces);
      const outcome = await applyPatch.resolve({ ...run, call: patch.call }, traces);
      return outcome === 'not-started' ? outcome : toNested(outcome);
    },
  };
}

/** The patch as its own call, in the folder the command would have started in; undefined for every other command. */
function toPatchCall(call: CallDetail): { call: CallDetail; cwd: string } | undefined {
  // Commands are on the hot path, and few of them hold the word.
  if (!call.input.includes('patch')) return undefined;
  const parsed = parseArguments(call.input);
  const found = typeof parsed === 'string' ? undefined : toInterceptedPatch(parsed.cmd);
  if (typeof parsed === 'string' || !found) return undefined;
  const cwd = resolve(call.context.cwd, parsed.workdir ?? '.', found.workdir ?? '.');
  return { call: { ...call, tool: 'apply_patch', form: 'freeform', input: found.patch }, cwd };
}

/** As Codex has it: the layout of the command around the layout of the patch; what failed stands alone. */
function toNested(output: CallOutput): CallOutput {
  if (output.status !== 'ok') return output;
  const text = `Wall time: 0.0000 seconds\nOutput:\n${output.text}`;
  return { ...output, text, tokens: toTokens(text) };
}
