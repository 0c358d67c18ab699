// protocol.ts: what a tool worker and its process host say to each other, as JSON lines on a unix socket.
// P1  `start` is idempotent by key: a key that is known attaches, whatever became of it, and starts nothing.
// P2  Every request gets exactly one reply; the events of a process come after the reply that attached to it.
// P3  `exit` is the last event of a process and comes once to everybody who is attached.
// P4  Input and readings are idempotent by the call that asks for them: input is written once, a reading is always the same range.

/** Characters and lines of a terminal. */
export type TerminalSize = { columns: number; rows: number };

/** What to run; `key` names it for ever on this machine. */
export type ProcessSpec = {
  key: string;
  command: string;
  args: string[];
  /** Absolute, existing folder. */
  cwd: string;
  env: Record<string, string>;
  /** After this time the process is killed with everything it started; without it, never. */
  timeoutMs?: number;
  /** Gives it a terminal of this size instead of pipes and a closed stdin. */
  tty?: TerminalSize;
};

/** How a process ended. Times are milliseconds since the epoch with fractions; `bytes` and `lines` count its whole output. */
export type ProcessExit = {
  end: 'exited' | 'timed-out' | 'killed' | 'stopped' | 'not-started';
  code: number | null;
  signal: string | null;
  startedAt: number;
  endedAt: number;
  bytes: number;
  lines: number;
  /** Why it could not be started. */
  detail?: string;
};

export type ProcessState =
  /** No such key: nothing was ever started under it. */
  | { state: 'unknown' }
  | ({ state: 'running'; startedAt: number } & Place)
  | ({ state: 'exited'; exit: ProcessExit } & Place)
  /** It was being started or ran when the host died; what it did is not known. Nothing of it runs any more. */
  | ({ state: 'lost'; startedAt: number } & Place);

/** Set once the process is a background terminal. */
type Place = { inBackground?: true };

/** A background terminal: a process that goes on after the call that started it, under a number of its session. */
export type TerminalAddress = { owner: string; number: number };

/** What a call has read of a background terminal: the bytes from `start` to `end` of its output, and its state at that time. */
export type Reading = {
  /** Of the process. */
  key: string;
  number: number;
  start: number;
  end: number;
  /** Milliseconds since the epoch with fractions. */
  at: number;
  state: Exclude<ProcessState, { state: 'unknown' }>;
};

export type Interaction =
  | { kind: 'no-terminal' }
  /** Its input is closed, because it has no tty. Nothing was written. */
  | { kind: 'no-input' }
  /** This call has read it before. */
  | { kind: 'read'; reading: Reading }
  /** The input was written, now or before. A process that runs is watched from then on. */
  | { kind: 'attached'; key: string; state: ProcessState };

export type TerminalStatus = TerminalAddress & {
  key: string;
  command: string;
  tty: boolean;
  notify: boolean;
  /** A call has read its end and is not settled. */
  beingTold: boolean;
  state: ProcessState;
};

export type HostRequest = { id: number } & (
  | { op: 'start'; process: ProcessSpec }
  /** Starts nothing. A process that runs is watched from then on. */
  | { op: 'attach'; key: string }
  | { op: 'status'; key: string }
  /** First SIGTERM, after the grace SIGKILL, to the process and everything it started. Replies when all of it is gone. */
  | { op: 'kill'; key: string; graceMs: number }
  | { op: 'list' }
  /** Deletes what is kept of a process; one that still runs is killed first. */
  | { op: 'forget'; key: string }
  /**
   * Lets a process that runs go on after its call, as a terminal of this owner, and reads what it has printed so far. A process that
   * has ended is left as it is. Ends the watch.
   */
  | { op: 'background'; key: string; owner: string; command: string; notify: boolean }
  /** Writes the input once for this call, and attaches. */
  | ({ op: 'interact'; call: string; input: string } & TerminalAddress)
  /** Takes what was printed since the last reading. Ends the watch. */
  | ({ op: 'read'; call: string } & TerminalAddress)
  /**
   * Nobody asks for this call any more. Forgets the process that it started, unless that is a terminal, and a terminal whose end it
   * has read. `unread`: nobody saw its reading, which the next call therefore reads again; what it sent to the background is ended.
   */
  | { op: 'settle'; call: string; unread: boolean }
  | ({ op: 'resize'; size: TerminalSize } & TerminalAddress)
  | { op: 'terminals' }
  /** The person was told of its end; it is not to be told again. */
  | ({ op: 'notified' } & TerminalAddress)
  /** Kills everything and ends the host. */
  | { op: 'stop' }
);

/** What the requests are answered with. */
export type HostAnswers = {
  start: ProcessState;
  attach: ProcessState;
  status: ProcessState;
  kill: ProcessState;
  list: Record<string, ProcessState>;
  forget: null;
  background: Reading | { state: ProcessState };
  interact: Interaction;
  /** Null: no such terminal. */
  read: Reading | null;
  settle: null;
  /** False: no such terminal, or one without a tty. */
  resize: boolean;
  terminals: TerminalStatus[];
  notified: null;
  stop: null;
};

type HostReply = { id: number; answer: unknown } | { id: number; error: string };

type HostEvent =
  | { event: 'output'; key: string; text: string }
  | { event: 'exit'; key: string; exit: ProcessExit }
  /** A terminal has ended whose end is to be told; `terminals` says which. */
  | { event: 'ended' };

export type HostMessage = HostReply | HostEvent;
