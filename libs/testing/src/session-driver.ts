import type { Script } from '@holdfast/model-script';
// session-driver.ts: drives one session through the public API and waits for what should happen, never for time.
import type { SessionEvent } from '@holdfast/protocol';
import { isTerminal } from '@holdfast/protocol';
import type { RemoteSession } from '@holdfast/session-client';
import type { TestStack } from './test-stack.ts';

export type DrivenSession = RemoteSession & {
  cwd: string;
  /** What the model server calls the session's script. */
  scriptId: string;
  /** Submits a prompt and returns its id. */
  prompt(text?: string): Promise<string>;
  /** Recorded and live events up to the first that fits. */
  until(wanted: (event: SessionEvent) => boolean): Promise<SessionEvent[]>;
  /** The whole log up to the terminal status of the nth turn, from 1. */
  untilTurnEnds(turn?: number): Promise<SessionEvent[]>;
};

export type DriveOptions = {
  cwd?: string;
  machine?: string;
  approvalPolicy?: 'never' | 'always';
  /** Submits this prompt at once. */
  prompt?: string;
};

let count = 0;

/** A new session that plays `script`; in a folder of its own unless told otherwise. */
export async function driveSession(
  stack: TestStack,
  script: Script,
  options: DriveOptions = {},
): Promise<DrivenSession> {
  const cwd = options.cwd ?? stack.folder();
  count += 1;
  const scriptId = `driven-${process.pid}-${count}`;
  const baseUrl = stack.model.addScript(scriptId, script);
  const created = await stack.client.createSession({
    settings: {
      cwd,
      machine: options.machine ?? 'local',
      model: { name: 'scripted', baseUrl, apiKey: 'sk-driven-session-key' },
      approvalPolicy: options.approvalPolicy ?? 'never',
    },
    ...(options.prompt === undefined
      ? {}
      : { input: { inputId: crypto.randomUUID(), text: options.prompt } }),
  });
  return toDriven(stack.client.open(created.sessionId), { cwd, scriptId });
}

function toDriven(session: RemoteSession, where: { cwd: string; scriptId: string }): DrivenSession {
  const until = async (wanted: (event: SessionEvent) => boolean) => {
    const seen: SessionEvent[] = [];
    const stop = new AbortController();
    for await (const event of session.events({ signal: stop.signal })) {
      seen.push(event);
      if (wanted(event)) break;
    }
    stop.abort();
    return seen;
  };
  return {
    ...session,
    ...where,
    until,
    prompt: async (text = 'go') => {
      const inputId = crypto.randomUUID();
      await session.submit({ inputId, text });
      return inputId;
    },
    untilTurnEnds: (turn = 1) => {
      let ended = 0;
      return until((event) => {
        if (isTerminal(event)) ended += 1;
        return ended === turn;
      });
    },
  };
}
