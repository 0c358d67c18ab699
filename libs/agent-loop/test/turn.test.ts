import { Failure } from '@holdfast/failures';
import type { StepReply } from '@holdfast/protocol';
import { describe, expect, test } from 'vitest';
import { runTurn, type SampleRequest, type TurnPorts, type TurnState } from '../src/index.ts';

type Played = StepReply | Error | (() => StepReply);

function play(replies: Played[]): { ports: TurnPorts; requests: SampleRequest[]; ran: string[] } {
  const requests: SampleRequest[] = [];
  const ran: string[] = [];
  const left = [...replies];
  const ports: TurnPorts = {
    model: {
      sample: (request) => {
        requests.push(structuredClone(request));
        const reply = left.shift();
        if (reply === undefined) throw new Error('the script is exhausted');
        if (reply instanceof Error) return Promise.reject(reply);
        return Promise.resolve(typeof reply === 'function' ? reply() : reply);
      },
    },
    calls: {
      run: ({ call }) => {
        ran.push(call.callId);
        return Promise.resolve({ kind: 'finished', status: 'ok', outputTokens: 1 });
      },
    },
  };
  return { ports, requests, ran };
}

const callReply = (callId: string): StepReply => ({
  kind: 'reply',
  calls: [{ callId, tool: 'exec_command', placement: 'machine', parallel: true }],
  contextTokens: 10,
  endTurn: true,
});
const textReply: StepReply = { kind: 'reply', calls: [], contextTokens: 12, endTurn: true };
const start = (): TurnState => ({ turnId: 'in-1', step: 1, inputs: ['in-1'] });
const running = { sessionId: 's', signal: new AbortController().signal };

describe('a turn', () => {
  test('asks, runs the calls, asks again and ends when a reply has no calls', async () => {
    const { ports, requests, ran } = play([callReply('1.1.0'), callReply('1.2.0'), textReply]);
    expect(await runTurn(ports, start(), running)).toEqual({ kind: 'ended', end: { kind: 'completed' } });
    expect(ran).toEqual(['1.1.0', '1.2.0']);
    expect(requests).toEqual([
      { sessionId: 's', turnId: 'in-1', step: 1, inputs: ['in-1'] },
      { sessionId: 's', turnId: 'in-1', step: 2, inputs: [] },
      { sessionId: 's', turnId: 'in-1', step: 3, inputs: [] },
    ]);
  });

  test('goes on after a final text when an input arrived meanwhile, and records it once', async () => {
    const state = start();
    const steering = () => {
      state.inputs.push('in-2');
      return textReply;
    };
    const { ports, requests } = play([steering, textReply]);
    expect(await runTurn(ports, state, running)).toEqual({ kind: 'ended', end: { kind: 'completed' } });
    expect(requests.map((request) => request.inputs)).toEqual([['in-1'], ['in-2']]);
  });

  test('goes on when the model says that it has not ended its turn', async () => {
    const { ports, requests } = play([{ ...textReply, endTurn: false }, textReply]);
    await runTurn(ports, start(), running);
    expect(requests).toHaveLength(2);
  });

  test('ends with the failure of a broken tool, and asks the model no more', async () => {
    const { ports, requests } = play([callReply('1.1.0'), textReply]);
    const broken = new Failure('tool.broken', { detail: 'exec_command' });
    ports.calls.run = () => Promise.reject(broken);
    expect(await runTurn(ports, start(), running)).toEqual({
      kind: 'ended',
      end: { kind: 'error', error: { code: 'tool.broken', message: broken.message } },
    });
    expect(requests).toHaveLength(1);
  });

  test('ends with the classified failure when the model cannot answer, and keeps the steers of the lost request', async () => {
    const state: TurnState = { turnId: 'in-1', step: 4, inputs: ['in-2'] };
    const { ports } = play([new Failure('model.unauthorized')]);
    expect(await runTurn(ports, state, running)).toEqual({
      kind: 'ended',
      end: {
        kind: 'error',
        error: {
          code: 'model.unauthorized',
          message:
            'The model endpoint refused the API key; set OPENAI_API_KEY to a valid key and send the prompt again.',
        },
      },
    });
    expect(state.inputs).toEqual(['in-2']);
  });

  test('ends as cancelled after an abort, whatever the port answers', async () => {
    const abort = new AbortController();
    const { ports, ran } = play([
      () => {
        abort.abort();
        return callReply('1.1.0');
      },
    ]);
    const end = await runTurn(ports, start(), { sessionId: 's', signal: abort.signal });
    expect(end).toEqual({ kind: 'ended', end: { kind: 'cancelled' } });
    expect(ran).toEqual([]);
  });

  test('stops without an end of its own when somebody else sealed it', async () => {
    const { ports } = play([{ kind: 'sealed', status: 'cancelled' }]);
    expect(await runTurn(ports, start(), running)).toEqual({ kind: 'sealed' });
  });

  test('can be suspended after any step and goes on from its state', async () => {
    const state = start();
    const { ports, requests } = play([callReply('1.1.0'), textReply]);
    expect(await runTurn(ports, state, { ...running, shouldSuspend: () => true })).toEqual({
      kind: 'suspended',
    });
    expect(state).toEqual({ turnId: 'in-1', step: 2, inputs: [] });
    await runTurn(ports, state, running);
    expect(requests.map((request) => request.step)).toEqual([1, 2]);
  });

  test('asks for fresh tools in exactly one request', async () => {
    const { ports, requests } = play([callReply('1.1.0'), textReply]);
    await runTurn(ports, { ...start(), refreshTools: true }, running);
    expect(requests.map((request) => request.refreshTools)).toEqual([true, undefined]);
  });
});
