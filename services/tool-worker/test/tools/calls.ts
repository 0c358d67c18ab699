// calls.ts: single calls on a machine of the test, as the engine would make them.
import type { CallOutput } from '@holdfast/protocol';
import { never, type TestMachine } from '../machines.ts';

let made = 0;

/** @returns the output as the store has it */
export async function callTool(
  { machine, store, workspace }: TestMachine,
  tool: string,
  input: object | string,
  signal: AbortSignal = never,
): Promise<CallOutput> {
  made += 1;
  const callId = `1.${made}.0`;
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  await machine.calls.run(store.add({ callId, tool, input: text, cwd: workspace }), signal);
  const output = store.outputOf(callId);
  if (!output) throw new Error(`${tool} gave no output`);
  return output;
}

/** The text of a call that must succeed. */
export async function textOf(bench: TestMachine, tool: string, input: object): Promise<string> {
  const { status, text } = await callTool(bench, tool, input);
  if (status !== 'ok') throw new Error(`${status}: ${text}`);
  return text;
}
