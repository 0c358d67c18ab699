import { existsSync, readFileSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { onTestFinished } from 'vitest';
import { ProcessHostClient, type CallOutcome } from '../../src/process-host/client.ts';
import { readProcess } from '../../src/process-host/process-table.ts';
import type { ProcessSpec } from '../../src/process-host/protocol.ts';
import { createFolder } from '../folders.ts';

const path = process.env['PATH'] ?? '/usr/bin:/bin';

/** A client with a host of its own, both ended when the test ends. */
export function createClient(stateDir = createFolder()): { client: ProcessHostClient; stateDir: string } {
  const client = new ProcessHostClient({ stateDir, runtimeDir: stateDir, env: { PATH: path } });
  onTestFinished(() => client.close({ stopHost: true }));
  return { client, stateDir };
}

export function toSpec(key: string, script: string, given: Partial<ProcessSpec> = {}): ProcessSpec {
  return {
    key,
    command: 'bash',
    args: ['-c', script],
    cwd: '/',
    env: { PATH: path },
    timeoutMs: 60_000,
    ...given,
  };
}

export type Run = { outcome: CallOutcome; output: string };

/** Runs a script to its end. */
export async function run(
  client: ProcessHostClient,
  spec: ProcessSpec,
  signal: AbortSignal = new AbortController().signal,
): Promise<Run> {
  let output = '';
  const outcome = await client.run(spec, { onOutput: (text) => (output += text), signal });
  return { outcome, output };
}

/** Resolves with the content as soon as the file has a whole line. */
export async function waitForLine(file: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const isWhole = () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n');
  const watcher = watch(dirname(file), (_event, name) => {
    if (name === basename(file) && isWhole()) resolve();
  });
  if (isWhole()) resolve();
  await promise;
  watcher.close();
  return readFileSync(file, 'utf8').trim();
}

/** Resolves when the process has ended. */
export async function waitForEnd(pid: number): Promise<void> {
  while (readProcess(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
}
