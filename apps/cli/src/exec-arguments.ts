// exec-arguments.ts: the command line of `exec` by Node's own parser. Loading the full parser takes longer than everything else that
// `exec` does before its request; so it is loaded only for what this one does not take: help and mistakes.
import type { ExecRequest } from './command-line.ts';

const options = {
  json: { type: 'boolean', default: false },
  cd: { type: 'string', short: 'C' },
  model: { type: 'string', short: 'm' },
  machine: { type: 'string' },
  script: { type: 'string' },
  local: { type: 'boolean', default: false },
  approval: { type: 'string', multiple: true },
} as const;

/** The same request as `parseCommandLine` gives, or undefined when that should decide. */
export function parseExecArguments(argv: readonly string[]): ExecRequest | undefined {
  if (argv[0] !== 'exec') return undefined;
  // Its module form would load every lazy part of `node:util`.
  const { parseArgs } = process.getBuiltinModule('node:util');
  try {
    const { values, positionals } = parseArgs({ args: argv.slice(1), options, allowPositionals: true });
    const { cd, model, machine, script, json, local } = values;
    const [approval, ...others] = values.approval ?? ['never'];
    if (positionals.length > 1 || others.length > 0) return undefined;
    if (approval !== 'never' && approval !== 'always') return undefined;
    return { prompt: positionals[0], json, cd, model, machine, script, local, approval };
  } catch {
    return undefined;
  }
}
