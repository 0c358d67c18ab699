// terminals.ts: processes that went on after the call that started them, by the session that owns them and a number.
// T1  A number is reached only through its owner, and is kept over restarts of this process.
// T2  Input is written once for a call: that it will be is on disk before it is.
// T3  A reading is fixed for its call when it is first taken, so a call that is repeated reads the same.
// T4  What a call has read and nobody saw is read again by the next one.
import { hash } from 'node:crypto';
import { interruptCharacter } from './hosted-process.ts';
import { measureOutput, readOutput } from './output-files.ts';
import type { ProcessLog, ProcessRecord, TerminalRecord } from './process-log.ts';
import type { Interaction, ProcessState, Reading, TerminalAddress, TerminalStatus } from './protocol.ts';
import { toWholeCharacters } from './whole-characters.ts';

/** As Codex has it: so many terminals a session, and the newest of them are never given up. */
const terminalLimit = 64;
const protectedCount = 8;
const firstNumber = 1_000;
const numberCount = 99_000;
/** The longest part of a character that can be missing. */
const tailBytes = 4;

type KnownTerminal = ProcessRecord & { terminal: TerminalRecord };

export type TerminalsOptions = {
  log: ProcessLog;
  status(key: string): ProcessState;
  /** Undefined when it does not run. */
  running(key: string): { bytes: number; write(text: string): void } | undefined;
  folderOf(key: string): string;
  /** Kills the process when it runs and forgets it. */
  forget(key: string): Promise<void>;
};

export class Terminals {
  readonly #options: TerminalsOptions;

  constructor(options: TerminalsOptions) {
    this.#options = options;
  }

  /** The process goes on after its call, which has read what was printed so far. Undefined when it does not run any more. */
  add(request: { key: string; owner: string; command: string; notify: boolean }): Reading | undefined {
    const { key, owner, command, notify } = request;
    const { log } = this.#options;
    const record = log.get(key);
    const known = record?.terminal?.readings[key];
    if (known) return known;
    if (this.#options.status(key).state !== 'running' || !record) return undefined;
    const terminal: TerminalRecord = record.terminal ?? {
      owner,
      number: this.#toNumber(owner, key),
      command,
      tty: record.tty === true,
      notify,
      cursor: 0,
      usedAt: 0,
      inputs: [],
      readings: {},
    };
    this.#prune(owner, key);
    return this.#take({ ...record, terminal }, key);
  }

  find({ owner, number }: TerminalAddress): KnownTerminal | undefined {
    return this.#options.log
      .terminals()
      .find(({ terminal }) => terminal.owner === owner && terminal.number === number);
  }

  interact(request: { call: string; input: string } & TerminalAddress): Interaction {
    const { call, input } = request;
    const found = this.find(request);
    if (!found) return { kind: 'no-terminal' };
    const { key, terminal } = found;
    const reading = terminal.readings[call];
    if (reading) return { kind: 'read', reading };
    const process = this.#options.running(key);
    if (input !== '' && process && !terminal.inputs.includes(call)) {
      if (!terminal.tty && input !== interruptCharacter) return { kind: 'no-input' };
      this.#options.log.setTerminal(key, { ...terminal, inputs: [...terminal.inputs, call], usedAt: now() });
      process.write(input); // T2
    }
    return { kind: 'attached', key, state: this.#options.status(key) };
  }

  /** Undefined when there is no such terminal. */
  read(request: { call: string } & TerminalAddress): Reading | undefined {
    const found = this.find(request);
    if (!found) return undefined;
    return found.terminal.readings[request.call] ?? this.#take(found, request.call); // T3
  }

  /** True when the call had read from a terminal or written to it. */
  async settle({ call, unread }: { call: string; unread: boolean }): Promise<boolean> {
    const { log } = this.#options;
    const found = log
      .terminals()
      .find(({ terminal }) => call in terminal.readings || terminal.inputs.includes(call));
    if (!found) return false;
    const { key, terminal } = found;
    const { [call]: reading, ...readings } = terminal.readings;
    if (reading && reading.state.state !== 'running' && !unread) {
      await this.#options.forget(key);
      return true;
    }
    const cursor = reading && unread ? Math.min(terminal.cursor, reading.start) : terminal.cursor; // T4
    const inputs = terminal.inputs.filter((other) => other !== call);
    log.setTerminal(key, { ...terminal, cursor, inputs, readings });
    return true;
  }

  list(): TerminalStatus[] {
    return this.#options.log.terminals().map(({ key, terminal }) => {
      const { owner, number, command, tty, notify } = terminal;
      const beingTold = Object.values(terminal.readings).some(({ state }) => state.state !== 'running');
      return { owner, number, key, command, tty, notify, beingTold, state: this.#options.status(key) };
    });
  }

  setNotified(address: TerminalAddress): void {
    const found = this.find(address);
    if (found) this.#options.log.setTerminal(found.key, { ...found.terminal, notify: false });
  }

  #take({ key, terminal }: KnownTerminal, call: string): Reading {
    const state = this.#options.status(key);
    if (state.state === 'unknown') throw new Error(`process ${key} is not known`);
    const at = now();
    const end = this.#toEnd(key, state);
    const reading = { key, number: terminal.number, start: Math.min(terminal.cursor, end), end, at, state };
    const readings = { ...terminal.readings, [call]: reading };
    this.#options.log.setTerminal(key, { ...terminal, cursor: end, usedAt: at, readings });
    return reading;
  }

  /** While it runs, a character that is only half there is left for the next reading. */
  #toEnd(key: string, state: ProcessState): number {
    const folder = this.#options.folderOf(key);
    if (state.state === 'exited') return state.exit.bytes;
    const bytes = this.#options.running(key)?.bytes;
    if (bytes === undefined) return measureOutput(folder).bytes;
    const tail = readOutput(folder, { start: Math.max(0, bytes - tailBytes), end: bytes });
    return bytes - (tail.length - toWholeCharacters(tail));
  }

  /** The same for the same process, unless another one of the session has it. */
  #toNumber(owner: string, key: string): number {
    const taken = new Set(
      this.#options.log
        .terminals()
        .flatMap(({ terminal }) => (terminal.owner === owner ? [terminal.number] : [])),
    );
    let offset = Number.parseInt(hash('sha256', key).slice(0, 8), 16) % numberCount;
    while (taken.has(firstNumber + offset)) offset = (offset + 1) % numberCount;
    return firstNumber + offset;
  }

  /** Makes room for another terminal: first of those that have ended, then of those that run, the least recently used. */
  #prune(owner: string, key: string): void {
    const others = this.#options.log
      .terminals()
      .filter((each) => each.terminal.owner === owner && each.key !== key)
      .toSorted((one, other) => one.terminal.usedAt - other.terminal.usedAt);
    const surplus = others.length - (terminalLimit - 1);
    if (surplus <= 0) return;
    const hasEnded = (each: KnownTerminal) => this.#options.status(each.key).state !== 'running';
    const candidates = others.slice(0, -protectedCount);
    const ordered = [
      ...candidates.filter(hasEnded),
      ...candidates.filter((candidate) => !hasEnded(candidate)),
    ];
    for (const victim of ordered.slice(0, surplus)) void this.#options.forget(victim.key);
  }
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
