// demo.ts: kills the tool worker in the middle of a command and the orchestrator in the middle of an answer, and shows that
// the turn goes on and nothing runs twice. Everything happens in a temporary folder with a stack of its own.
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { Env } from '@holdfast/config';
import { stopStack } from '@holdfast/stack';
import { playDemo } from '../demo/play.ts';
import { createDemoProject } from '../demo/project.ts';
import { toReport } from '../demo/report.ts';
import { CliError, exitCodes, type ExitCode } from '../exit-codes.ts';
import { bringUp, toPaths } from '../stack-start.ts';
import { note, type Terminal } from '../terminal.ts';

/** From a stack that serves: long enough for the slowest machine; a turn that hangs is a broken promise, too. */
const limitMs = 180_000;

/** Exit code 1 when a promise broke. Leaves nothing behind, also after Ctrl-C. */
export async function demo(caller: Terminal): Promise<ExitCode> {
  const project = await createDemoProject({ node: process.execPath, env: caller.env });
  const terminal = { ...caller, env: toDemoEnvironment(caller.env, project.stateDir) };
  const paths = toPaths(terminal);
  const late = new AbortController();
  const left = new AbortController();
  const stopListening = caller.onInterrupt(() => left.abort());
  let limit: NodeJS.Timeout | undefined;
  try {
    const stack = await Promise.race([bringUp(terminal, { split: true }), rejectWhenLeft(left.signal)]);
    limit = setTimeout(() => late.abort(), limitMs);
    const signal = AbortSignal.any([late.signal, left.signal]);
    const outcome = await playDemo(terminal, { project, paths, stack, signal });
    if (left.signal.aborted) return exitCodes.interrupted;
    const { text, broken } = toReport(outcome);
    caller.stdout.write(`\n${text}`);
    return broken.length === 0 ? exitCodes.ok : exitCodes.failed;
  } catch (error) {
    if (left.signal.aborted) return exitCodes.interrupted;
    if (!late.signal.aborted) throw error;
    throw new CliError(
      exitCodes.failed,
      `The demo did not end within ${limitMs / 1_000} s; run \`holdfast doctor\`.`,
    );
  } finally {
    clearTimeout(limit);
    note(caller, 'Stopping the stack of the demo and removing its folder…');
    await stopStack({ paths });
    await rm(project.folder, { recursive: true, force: true });
    stopListening();
  }
}

/** A first start may build for minutes; nobody has to wait for that to leave. */
async function rejectWhenLeft(signal: AbortSignal): Promise<never> {
  await once(signal, 'abort');
  throw signal.reason;
}

/** A stack of its own, whatever the caller has configured: only what names binaries and caches is kept. */
function toDemoEnvironment(env: Env, stateDir: string): Env {
  const kept = Object.entries(env).filter(([name]) => !configured.test(name) || binaries.test(name));
  return { ...Object.fromEntries(kept), HOLDFAST_STATE_DIR: stateDir };
}

const configured = /^(HOLDFAST_|TEMPORAL_|OPENAI_|DATABASE_URL$|NATS_URL$)/;
const binaries = /^HOLDFAST_(.*_BIN|DOWNLOADS)$/;
