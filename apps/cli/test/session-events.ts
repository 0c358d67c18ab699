import type { EventBody, SessionEvent } from '@holdfast/protocol';

export const sessionId = '7d0a4a0c-3e0f-4f6e-9d6e-2f1f6a1c0b11';
export const turnId = 'input-1';

const startedAt = Date.parse('2026-05-04T10:00:00.000Z');

/** The bodies as events of one turn, numbered from `after + 1`, 100 ms apart. */
export function toEvents(
  bodies: readonly EventBody[],
  options: { after?: number; turnId?: string | null } = {},
): SessionEvent[] {
  const { after = 0 } = options;
  return bodies.map((body, index) => ({
    ...body,
    seq: after + index + 1,
    sessionId,
    turnId: options.turnId === undefined ? turnId : options.turnId,
    at: new Date(startedAt + (after + index) * 100).toISOString(),
  }));
}

export const starting: EventBody = {
  type: 'status',
  status: 'starting',
  ordinal: 1,
  input: { inputId: turnId, text: 'repair the test' },
};

export const completed: EventBody = { type: 'status', status: 'completed' };

export function toUsage(step: number, outputTokens: number): EventBody {
  const usage = { inputTokens: 1_000, cachedInputTokens: 900, outputTokens, reasoningOutputTokens: 0 };
  return { type: 'usage', step, responseId: `resp_${step}`, usage, contextTokens: 1_000 + outputTokens };
}

export function toExecCall(callId: string, cmd: string): EventBody {
  return { type: 'tool_call', step: 1, callId, tool: 'exec_command', input: JSON.stringify({ cmd }) };
}

export function toExecResult(callId: string, result: { exitCode: number; output: string }): EventBody {
  const { exitCode, output } = result;
  const header = `Chunk ID: 0a1b2c\nWall time: 1.2000 seconds\nProcess exited with code ${exitCode}\nOriginal token count: 9\nOutput:\n`;
  return {
    type: 'tool_result',
    callId,
    tool: 'exec_command',
    status: exitCode === 0 ? 'ok' : 'failed',
    text: header + output,
    durationMs: 1_200,
    exitCode,
  };
}
