// worker.ts: makes this machine one that sessions can use, for as long as the command runs.
import { mkdir, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Env } from '@holdfast/config';
import { registerWorker, type StackInfo } from '@holdfast/stack';
import { runUntilStopped } from '@holdfast/temporal-runtime';
import { startToolWorker } from '@holdfast/tool-worker';
import { exitCodes, usageError, type ExitCode } from '../exit-codes.ts';
import { toMachineStateDir } from '../stack-environment.ts';
import { bringUp, toPaths } from '../stack-start.ts';
import { note, type Terminal } from '../terminal.ts';

const stopLimitMs = 10_000;
const connectionVariables = ['TEMPORAL_ADDRESS', 'NATS_URL', 'HOLDFAST_STORE_URL', 'HOLDFAST_INTERNAL_TOKEN'];

/** Serves until Ctrl-C or SIGTERM; calls that still run get a grace time. Without an installation configured, the stack is started. */
export async function startWorker(
  terminal: Terminal,
  request: { name: string; workspace: string },
): Promise<ExitCode> {
  const workspace = resolve(terminal.cwd, request.workspace);
  const found = await stat(workspace).catch(() => null);
  if (!found?.isDirectory())
    throw usageError(`The workspace ${workspace} is not a folder; create it or name another.`);
  const paths = toPaths(terminal);
  const configured = connectionVariables.every((variable) => terminal.env[variable]);
  const connections = configured
    ? {}
    : toConnections(await bringUp(terminal, { split: false }), terminal.env);
  const machineStateDir = toMachineStateDir(paths.stateDir, request.name);
  await mkdir(machineStateDir, { recursive: true, mode: 0o700 });
  const service = await startToolWorker({
    // A person looks at this terminal: only what is wrong, unless they want more.
    HOLDFAST_LOG_LEVEL: 'warn',
    ...terminal.env,
    ...connections,
    HOLDFAST_MACHINE_NAME: request.name,
    HOLDFAST_MACHINE_STATE_DIR: machineStateDir,
    HOLDFAST_WORKSPACE: workspace,
    HOLDFAST_TOOL_WORKER_HEALTH_PORT: '0',
  });
  const unregister = await registerWorker(paths, { machine: request.name, pid: process.pid });
  note(terminal, `The machine ${request.name} serves ${workspace}; stop it with Ctrl-C.`);
  const stop = async (): Promise<void> => {
    await service.stop();
    unregister();
  };
  void service.lost.then(async (failure) => {
    note(terminal, failure.message);
    await stop();
    process.exit(exitCodes.failed);
  });
  await runUntilStopped([{ stop }], { parentPipe: false, stopLimitMs });
  return exitCodes.ok;
}

/** Where the running stack is, for one more tool worker. External servers are named by the same variables as for the stack. */
function toConnections(info: StackInfo, env: Env): Record<string, string> {
  const { addresses, secrets } = info;
  return {
    TEMPORAL_ADDRESS: addresses['temporal'] ?? '',
    TEMPORAL_NAMESPACE: info.temporalNamespace,
    NATS_URL: env['NATS_URL'] || `nats://${secrets.natsToken}@${addresses['nats'] ?? ''}`,
    HOLDFAST_STORE_URL: addresses['history-store'] ?? '',
    HOLDFAST_INTERNAL_TOKEN: secrets.internalToken,
  };
}
