// shell.ts: the older form of exec_command, run by it: same processes, same resolver, same output.
import type { CallDetail } from '@holdfast/protocol';
import { toShortOutput } from '../../call-outputs.ts';
import type { Tool } from '../../tool.ts';
import { toExecArguments } from './exec-arguments.ts';
import { shellTool } from './spec.ts';

/** @param execCommand does the work */
export function createShell(execCommand: Tool): Tool {
  return {
    spec: shellTool.spec,
    prepare: (call) => {
      const translated = translate(call);
      return typeof translated === 'string'
        ? Promise.resolve({ kind: 'refused', output: toShortOutput('failed', translated) })
        : execCommand.prepare(translated);
    },
    resolve: async (run, traces) => {
      const call = translate(run.call);
      return typeof call === 'string'
        ? toShortOutput('failed', call)
        : execCommand.resolve({ ...run, call }, traces);
    },
    discard: (...call) => execCommand.discard?.(...call) ?? Promise.resolve(),
  };
}

/** @returns a sentence for the model when the arguments cannot be used */
function translate(call: CallDetail): CallDetail | string {
  const given = shellTool.readArguments(call.input);
  if (given.kind === 'refused') return given.text;
  return { ...call, input: JSON.stringify(toExecArguments(given.value)) };
}
