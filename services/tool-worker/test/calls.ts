// calls.ts: calls of a machine's tools as a session makes them, and what the model reads of them.
import { expect } from 'vitest';
import { never, type TestMachine } from './machines.ts';

let calls = 0;

/** Runs one call to its end and returns what the store has of it. */
export async function callTool(
  { machine, store, workspace }: TestMachine,
  tool: string,
  input: object | string,
  signal: AbortSignal = never,
) {
  calls += 1;
  const callId = `1.${calls}.0`;
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  const request = store.add({ callId, tool, input: text, cwd: workspace });
  const result = await machine.calls.run(request, signal);
  const output = store.outputOf(callId);
  expect(result).toEqual({ kind: 'finished', status: output?.status, outputTokens: output?.tokens });
  return { callId, status: output?.status, text: output?.text ?? '', output };
}

/** Everything after the line `Output:`. */
export const printed = (text = '') => text.slice(text.indexOf('\nOutput:\n') + '\nOutput:\n'.length);

/** The number that the model is told; fails when the command does not run any more. */
export function toNumber(text: string): number {
  const number = /^Process running with session ID (\d+)$/m.exec(text)?.[1];
  expect(number, text).toBeDefined();
  return Number(number);
}
