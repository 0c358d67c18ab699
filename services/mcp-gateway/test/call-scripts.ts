// Calls over a fake store and scripted tools: what the tests of running a call have in common.
import { createGatewayRunner, type GatewayRunner } from '@holdfast/mcp-gateway';
import type { CallOutput } from '@holdfast/protocol';
import type { FoundTool, ToolCaller, ToolOutcome, ToolRequest } from '../src/tool-caller.ts';
import { FakeCallLog, sessionId } from './call-log.ts';
import { silent } from './gateways.ts';

export type ToolScript = {
  effects: 'read' | 'execute';
  run: (request: ToolRequest) => Promise<ToolOutcome> | ToolOutcome;
};

/** Tools that do what the test says; `ran` names those that were called, `running` resolves when so many were. */
function scriptTools(scripts: Record<string, ToolScript>) {
  const ran: string[] = [];
  const waiting = new Map<number, () => void>();
  const running = (count: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.set(count, resolve);
    if (ran.length >= count) resolve();
    return promise;
  };
  const find = (name: string): FoundTool => {
    if (name.startsWith('mcp__away__'))
      return { kind: 'server-away', server: 'away', reason: 'it answered HTTP 500' };
    const script = scripts[name];
    if (!script) return { kind: 'unknown' };
    const call = async (request: ToolRequest) => {
      ran.push(name);
      waiting.get(ran.length)?.();
      return script.run(request);
    };
    return { kind: 'tool', spec: { name, effects: script.effects }, server: 'docs', call };
  };
  const caller: ToolCaller = { find };
  return { ...caller, ran, running };
}

/** Runners of one gateway group over one store; `run` dispatches a call. */
export function setUp(scripts: Record<string, ToolScript>) {
  const store = new FakeCallLog();
  const tools = scriptTools(scripts);
  const start = (bootId: string): GatewayRunner =>
    createGatewayRunner({ tools, store, machineId: 'gateway-mcp', bootId, logger: silent });
  const runner = start('boot-1');
  const run = (callId: string, options: { signal?: AbortSignal; by?: GatewayRunner } = {}) =>
    (options.by ?? runner).run(
      { sessionId, call: { callId } },
      options.signal ?? new AbortController().signal,
    );
  return { store, tools, start, runner, run };
}

/** An output without what differs from run to run. */
export function toStable(output: CallOutput | undefined) {
  if (!output) return output;
  const { durationMs: _durationMs, tokens: _tokens, ...rest } = output;
  return { ...rest, text: rest.text.replace(/^Wall time: \d+\.\d{4} seconds/, 'Wall time: N seconds') };
}
