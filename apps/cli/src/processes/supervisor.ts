// supervisor.ts: the process that keeps the stack of this checkout running. Its output is the supervisor's log.
import { fileURLToPath } from 'node:url';
import { resolvePaths, runSupervisor } from '@holdfast/stack';
import { planStack } from '../plan-stack.ts';
import { splitVariable } from '../stack-settings.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const { env } = process;
const split = env[splitVariable] === '1';

try {
  const exitCode = await runSupervisor({
    paths: resolvePaths({ root, env }),
    env,
    planProcesses: (context) => planStack(context, { root, node: process.execPath, split }),
  });
  process.exit(exitCode);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
