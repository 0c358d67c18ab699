import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Supervisor } from './lifetime.ts';
import { toRuntimePaths } from './runtime-paths.ts';

export type LaunchOptions = {
  /** The machine's state folder; it must exist. */
  stateDir: string;
  runtimeDir?: string;
  /** Of the host itself, which finds its tools by PATH; commands get their own. */
  env: Record<string, string>;
  /** Whoever holds this process' stdin open; the host then shares that pipe. */
  supervisor?: Supervisor;
  /** How long a host whose commands run waits for a tool worker; default 10 minutes. */
  orphanLimitMs?: number;
  /** The same while no command runs; default 30 seconds. */
  idleLimitMs?: number;
};

const defaultOrphanLimitMs = 600_000;
const defaultIdleLimitMs = 30_000;
const mainPath = fileURLToPath(new URL('./main.ts', import.meta.url));

/** Starts a process host on its own, outside this process' group and session. Resolves when it, or another one, can be connected to. */
export async function launchHost(options: LaunchOptions): Promise<void> {
  const {
    stateDir,
    supervisor,
    orphanLimitMs = defaultOrphanLimitMs,
    idleLimitMs = defaultIdleLimitMs,
  } = options;
  const argument = JSON.stringify({
    stateDir,
    ...toRuntimePaths(options),
    orphanLimitMs,
    idleLimitMs,
    supervisor,
  });
  const log = openSync(join(stateDir, 'process-host.log'), 'a', 0o600);
  try {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', mainPath, argument], {
      cwd: '/',
      env: options.env,
      detached: true,
      stdio: [supervisor ? 'inherit' : 'ignore', log, log, 'pipe'],
    });
    await new Promise<void>((resolve, reject) => {
      const ready = child.stdio[3];
      ready?.once('data', () => resolve());
      child.once('error', reject);
      child.once('exit', (code) => {
        reject(
          new Error(`the process host ended with code ${code}; see ${join(stateDir, 'process-host.log')}`),
        );
      });
    });
    child.removeAllListeners();
    child.stdio[3]?.destroy();
    child.unref();
  } finally {
    closeSync(log);
  }
}
