import type { SessionId } from './ids.ts';

/** A command that went on after the call that started it. */
export type BackgroundTerminal = {
  /** As the model knows it; unique within its session. */
  id: number;
  command: string;
  tty: boolean;
  startedAt: string;
  /** `killed`: a person, a time limit or the end of the machine's service ended it. `lost`: it died with its process host. */
  state: 'running' | 'exited' | 'killed' | 'lost';
  exitCode?: number;
};

/** What a machine is asked about the background terminals of one session; each is safe to repeat. */
export type TerminalRequest =
  | { op: 'list'; sessionId: SessionId }
  /** Ends one that runs, with everything it started; the model reads that a person did. */
  | { op: 'kill'; sessionId: SessionId; id: number }
  /** Ends all that run. */
  | { op: 'clean'; sessionId: SessionId }
  /** The session is closed: ends and forgets all of them. */
  | { op: 'close'; sessionId: SessionId };

/** The terminals that the request was about, as they are after it. */
export type TerminalReply = { terminals: BackgroundTerminal[] };
