import type { EventBody, SessionEvent } from '@holdfast/protocol';
import { hasSucceeded, toCallLabel, toOneLine, toOutcome } from './call-text.ts';

const limit = 160;

/** One event as one line: its number, its time (UTC), its family, and what it says. */
export function toEventLine(event: SessionEvent): string {
  const time = event.at.slice(11, 23);
  return `${String(event.seq).padStart(4)}  ${time}  ${event.type.padEnd(16)} ${toOneLine(toDetail(event), limit)}`.trimEnd();
}

function toDetail(event: EventBody): string {
  switch (event.type) {
    case 'status':
      return toStatusDetail(event);
    case 'step':
      return `${event.step} ${event.status}`;
    case 'text':
    case 'reasoning':
      return event.text;
    case 'usage':
      return `${event.usage.inputTokens} in, ${event.usage.outputTokens} out, context ${event.contextTokens}`;
    case 'tool_call':
      return `${event.callId} ${toCallLabel(event)}`;
    case 'mcp_progress':
      return `${event.callId} ${event.progress}${event.total === undefined ? '' : `/${event.total}`} ${event.message ?? ''}`;
    case 'tool_result':
      return `${event.callId} ${hasSucceeded(event) ? 'ok' : event.status} · ${toOutcome(event)}`;
    case 'context':
      return `${event.change} ${event.detail}`;
    case 'message_injected':
      return event.text;
    case 'approval':
      return event.status === 'requested'
        ? `requested ${event.approvalId} ${event.question}`
        : `resolved ${event.approvalId} ${event.decision}`;
    case 'plan':
      return event.plan.map(({ step, status }) => `${step} (${status})`).join('; ');
    case 'diff':
      return `${event.diff.split('\n').length} lines`;
    case 'error':
      return `${event.error.code} ${event.error.message}`;
  }
}

function toStatusDetail(event: Extract<EventBody, { type: 'status' }>): string {
  switch (event.status) {
    case 'starting':
      return `starting ${event.input.text}`;
    case 'waiting':
      return `waiting for ${event.reason}: ${event.detail}`;
    case 'error':
      return `error ${event.error.code}: ${event.error.message}`;
    case 'completed':
    case 'cancelled':
      return event.status;
  }
}
