import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApprovalPolicy, Delta } from '@holdfast/protocol';
import { createLogger } from '@holdfast/telemetry';
import type { ExitCode } from '../exit-codes.ts';
import { followTurn, type WatchedSession } from '../follow-turn.ts';
import { findMcpConfig } from '../mcp-config.ts';
import { isLeftToStack, scriptedNotice, type ModelChoice } from '../model-choice.ts';
import { note, type Terminal } from '../terminal.ts';
import { createLocalEngine } from './local-engine.ts';

export type LocalRequest = {
  cwd: string;
  model: ModelChoice;
  prompt: string;
  json: boolean;
  approval: ApprovalPolicy;
};

/** One prompt in this process. Nothing of it remains: Ctrl-C interrupts it, a crash loses it. */
export async function execLocally(terminal: Terminal, request: LocalRequest): Promise<ExitCode> {
  if (isLeftToStack(request.model)) note(terminal, scriptedNotice);
  const stateDir = await mkdtemp(join(tmpdir(), 'holdfast-local-'));
  const watcher: { onDelta?: (delta: Delta) => void } = {};
  const mcpConfig = findMcpConfig(terminal.env);
  const engine = await createLocalEngine({
    stateDir,
    workspace: request.cwd,
    env: terminal.env,
    // The log would go to stdout, which is for the answer.
    logger: createLogger({ service: 'local', level: 'silent' }),
    onDelta: (delta) => watcher.onDelta?.(delta),
    ...(mcpConfig === undefined ? {} : { mcpConfig }),
  });
  try {
    const inputId = randomUUID();
    const session = await engine.createSession({
      settings: { cwd: request.cwd, model: request.model, approvalPolicy: request.approval },
      input: { inputId, text: request.prompt },
    });
    note(terminal, `session ${session.sessionId} (in this process; it ends with it)`);
    const watched: WatchedSession = {
      sessionId: session.sessionId,
      interrupt: (turn) => session.interrupt(turn),
      events: ({ onDelta, ...options }) => {
        if (onDelta) watcher.onDelta = onDelta;
        return session.events(options);
      },
    };
    return await followTurn(terminal, watched, { turnId: inputId, json: request.json, detachable: false });
  } finally {
    await engine.close();
    await rm(stateDir, { recursive: true, force: true });
  }
}
