// follow-turn.ts: shows one turn until it ends, and lets the person leave it or stop it.
// F1  Leaving never stops a turn: the first Ctrl-C only detaches, after a pause in which a second one interrupts.
// F2  stdout carries the answer (or the JSONL lines) and nothing else.
import type { Delta, SessionEvent } from '@holdfast/protocol';
import { isTerminal } from '@holdfast/protocol';
import { createJsonlAdapter } from '@holdfast/session-client';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { hasColor, isLive, note, type Terminal } from './terminal.ts';
import { createHumanView } from './view/human-view.ts';
import { createPaint } from './view/paint.ts';
import { createProgressWriter } from './view/progress-writer.ts';

/** A session of any engine, as far as a viewer needs it. */
export type WatchedSession = {
  readonly sessionId: string;
  events(options: {
    after?: number;
    signal: AbortSignal;
    onDelta?: (delta: Delta) => void;
  }): AsyncIterable<SessionEvent>;
  interrupt(turn?: { turnId: string }): Promise<void>;
};

export type FollowOptions = {
  /** The turn to show; absent: the first one that begins after `after`. */
  turnId?: string;
  /** Events up to this one are known and not asked for. */
  after?: number;
  json: boolean;
  /** False: the turn ends with this process, so Ctrl-C interrupts it at once. */
  detachable: boolean;
  showPrompt?: boolean;
  /** Time for a second Ctrl-C; default 3 s. */
  detachPauseMs?: number;
};

const usualDetachPauseMs = 3_000;

/** Resolves when the turn ended or the person left. */
export async function followTurn(
  terminal: Terminal,
  session: WatchedSession,
  options: FollowOptions,
): Promise<ExitCode> {
  const left = new AbortController();
  const stopListening = listenForInterrupts(terminal, session, { left, ...options });
  const screen = options.json
    ? createJsonScreen(terminal, session)
    : createHumanScreen(terminal, session, options);
  try {
    const stream = session.events({
      ...(options.after === undefined ? {} : { after: options.after }),
      signal: left.signal,
      ...(screen.delta ? { onDelta: screen.delta } : {}),
    });
    let turnId = options.turnId;
    for await (const event of stream) {
      turnId ??= event.turnId ?? undefined;
      if (event.turnId !== null && event.turnId !== turnId) continue;
      screen.event(event);
      if (event.turnId !== null && isTerminal(event)) return toExitCode(event);
    }
    return exitCodes.ok;
  } finally {
    screen.end();
    stopListening();
    left.abort();
  }
}

type Screen = { event(event: SessionEvent): void; delta?: (delta: Delta) => void; end(): void };

function createJsonScreen({ stdout }: Terminal, { sessionId }: WatchedSession): Screen {
  const adapter = createJsonlAdapter(sessionId);
  const print = (line: object): void => stdout.write(`${JSON.stringify(line)}\n`);
  print(adapter.start());
  return {
    event: (event) => {
      for (const line of adapter.toLines(event)) print(line);
    },
    end: () => undefined,
  };
}

function createHumanScreen(
  terminal: Terminal,
  { sessionId }: WatchedSession,
  options: FollowOptions,
): Screen {
  const { stdout, stderr, env } = terminal;
  const live = isLive(stderr, env);
  const paint = createPaint({ color: hasColor(stderr, env) });
  const view = createHumanView({ sessionId, paint, live, showPrompt: options.showPrompt === true });
  const progress = createProgressWriter(stderr, { live });
  progress.show(view.status());
  return {
    event: (event) => {
      progress.print(view.event(event));
      if (!isTerminal(event)) return progress.show(view.status());
      progress.clear();
      if (event.type === 'status' && event.status === 'completed') stdout.write(`${view.answer()}\n`);
    },
    ...(live && {
      delta: (delta: Delta) => {
        view.delta(delta);
        progress.show(view.status());
      },
    }),
    end: () => progress.clear(),
  };
}

function toExitCode(event: SessionEvent): ExitCode {
  if (event.type !== 'status' || event.status === 'error') return exitCodes.failed;
  return event.status === 'cancelled' ? exitCodes.interrupted : exitCodes.ok;
}

type Leave = Pick<FollowOptions, 'turnId' | 'detachable' | 'detachPauseMs'> & { left: AbortController };

function listenForInterrupts(
  terminal: Terminal,
  session: WatchedSession,
  { left, turnId, detachable, detachPauseMs = usualDetachPauseMs }: Leave,
): () => void {
  let presses = detachable ? 0 : 1;
  let detaching: NodeJS.Timeout | undefined;
  const attach = `\`holdfast attach ${session.sessionId}\``;
  const stop = terminal.onInterrupt(() => {
    presses += 1;
    clearTimeout(detaching);
    if (presses === 1) {
      note(
        terminal,
        `\nDetaching: the turn goes on; see it again with ${attach}. Ctrl-C again within 3 s interrupts it.`,
      );
      detaching = setTimeout(() => left.abort(), detachPauseMs);
      return;
    }
    if (presses > 2) return left.abort();
    note(terminal, '\nInterrupting the turn…');
    session.interrupt(turnId === undefined ? undefined : { turnId }).catch((error: unknown) => {
      note(terminal, error instanceof Error ? error.message : String(error));
    });
  });
  return () => {
    clearTimeout(detaching);
    stop();
  };
}
