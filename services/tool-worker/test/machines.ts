import { onTestFinished } from 'vitest';
import { openMachine, type Machine, type MachineOptions } from '../src/machine.ts';
import { createFolder } from './folders.ts';
import { StrictCallLog } from './strict-call-log.ts';

export const silent = { debug() {}, info() {}, warn() {}, error() {} };

export type TestMachine = {
  machine: Machine;
  store: StrictCallLog;
  stateDir: string;
  workspace: string;
  texts: string[];
};

/** A machine in folders of its own, closed when the test ends. */
export function openTestMachine(
  given: Partial<MachineOptions> & { store?: StrictCallLog } = {},
): TestMachine {
  const workspace = given.workspace ?? createFolder();
  const stateDir = given.stateDir ?? createFolder();
  const store = given.store ?? new StrictCallLog();
  const texts: string[] = [];
  const machine = openMachine({
    name: 'test',
    env: process.env,
    supervised: false,
    publishDelta: (delta) => texts.push(delta.text),
    logger: silent,
    ...given,
    stateDir,
    workspace,
    store,
  });
  onTestFinished(() => machine.close({ limitMs: 2_000 }));
  return { machine, store, stateDir, workspace, texts };
}

export const never: AbortSignal = new AbortController().signal;
