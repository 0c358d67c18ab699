import type { SessionEvent } from '@holdfast/protocol';
import { expect } from 'vitest';

/** The event as one short line, without ids and times: `status starting`, `tool_result exec_command ok`. */
export function toLine(event: SessionEvent): string {
  switch (event.type) {
    case 'status':
    case 'approval':
      return `${event.type} ${event.status}`;
    case 'step':
      return `step ${event.step} ${event.status}`;
    case 'usage':
      return `usage ${event.step}`;
    case 'text':
      return `text ${event.text}`;
    case 'tool_call':
      return `tool_call ${event.tool}`;
    case 'tool_result':
      return `tool_result ${event.tool} ${event.status}`;
    case 'mcp_progress':
      return `mcp_progress ${event.progress}/${event.total ?? '?'}`;
    case 'context':
      return `context ${event.change}`;
    case 'error':
      return `error ${event.error.code}`;
    case 'message_injected':
      return `message_injected ${event.text}`;
    case 'reasoning':
    case 'plan':
    case 'diff':
      return event.type;
  }
}

/** A note about a retry: the only thing that a fault may add to the log. */
export function isRetryNote(event: SessionEvent): boolean {
  return event.type === 'error' && event.willRetry;
}

/** Fails unless `seq` runs from 1 without gap and each turn ends with exactly one terminal status that nothing follows. */
export function expectSoundLog(events: readonly SessionEvent[]): void {
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
  const ended = new Set<string>();
  for (const event of events) {
    if (event.turnId === null) continue;
    expect(
      ended.has(event.turnId),
      `an event of turn ${event.turnId} follows its end: ${toLine(event)}`,
    ).toBe(false);
    const terminal = event.type === 'status' && ['completed', 'error', 'cancelled'].includes(event.status);
    if (terminal) ended.add(event.turnId);
  }
}
