// protocol.ts: what a tool worker and its process host say to each other, as JSON lines on a unix socket.
// P1  `start` is idempotent by key: a key that is known attaches, whatever became of it, and starts nothing.
// P2  Every request gets exactly one reply; the events of a process come after the reply that attached to it.
// P3  `exit` is the last event of a process and comes once to everybody who is attached.

/** What to run; `key` names it for ever on this machine. */
export type ProcessSpec = {
  key: string;
  command: string;
  args: string[];
  /** Absolute, existing folder. */
  cwd: string;
  env: Record<string, string>;
  /** After this time the process is killed with everything it started. */
  timeoutMs: number;
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
  | { state: 'running'; startedAt: number }
  | { state: 'exited'; exit: ProcessExit }
  /** It was being started or ran when the host died; what it did is not known. Nothing of it runs any more. */
  | { state: 'lost'; startedAt: number };

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
  /** Kills everything and ends the host. */
  | { op: 'stop' }
);

type HostReply = { id: number; states: Record<string, ProcessState> } | { id: number; error: string };

type HostEvent =
  | { event: 'output'; key: string; text: string }
  | { event: 'exit'; key: string; exit: ProcessExit };

export type HostMessage = HostReply | HostEvent;
