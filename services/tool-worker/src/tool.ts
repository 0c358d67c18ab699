// tool.ts: the port between the domain of calls and the tools.
// A tool failure is a value that the model reads. A throw means that this worker, not the tool, failed; the call is then dispatched again.
import type { CallDetail, CallOutput, Digest, Effects, ToolSpec } from '@holdfast/protocol';

/** Why a call is stopped: the turn was interrupted, or this worker ends. The reason of a call's abort signal. */
export type CallStop = 'cancelled' | 'shutdown';

export type ToolRun = {
  call: CallDetail;
  /** Unique for ever on this machine; the same when the call is taken up again. */
  key: string;
  /** Aborts with a `CallStop` as its reason. The tool then ends what it started, waits for it, and returns what is known. */
  signal: AbortSignal;
  /** Live output for people who watch; may be lost. */
  emit(text: string): void;
};

/** What the journal knows of a call that may have started. */
export type Traces = {
  /** What the tool gave as evidence before it started. */
  evidence: unknown;
  /** False after a restart of the operating system: what had not reached the disk is gone. */
  sameKernelBoot: boolean;
};

/** A file that a call will write; `path` is absolute, the digests are SHA-256 of the content, null where there is no file. */
export type PlannedChange = { path: string; before: Digest | null; after: Digest | null };

export type Prepared =
  /** The input cannot be run; nothing has happened. */
  | { kind: 'refused'; output: CallOutput }
  | {
      kind: 'ready';
      /** For the person who approves: one line that names what will be done. */
      question: string;
      /** Written to the journal before `run`; plain JSON. */
      evidence: unknown;
      /** When this input does less than the tool may do. */
      effects?: Effects;
      /** What will be written, when the tool knows. */
      files?: readonly PlannedChange[];
      /** The file that will be read for the model; absolute. */
      reads?: string;
      run(run: ToolRun): Promise<CallOutput>;
    };

export type Tool = {
  spec: ToolSpec;
  /** Checks the input and plans; has no effect. */
  prepare(call: CallDetail): Promise<Prepared>;
  /**
   * Finds out what became of a call that may have started, without starting it again; waits for it when it still runs.
   * An output with status `unknown` says what is known. `not-started` is said only when it is certain that nothing has happened.
   */
  resolve(run: ToolRun, traces: Traces): Promise<CallOutput | 'not-started'>;
  /**
   * Ends what may still run for the call and drops what is kept of it: nobody will ask for it any more. Idempotent.
   * `sealed`: the turn ended first, so nobody has seen what the call told.
   */
  discard?(key: string, end: { sealed: boolean }): Promise<void>;
};
