// event-messages.ts: events as messages of the stream: one message for neighbours, unless it would grow too large for NATS.
// A gap in `seq` ends a message, so that equal message ids mean equal events.
import type { SessionEvent } from '@holdfast/protocol';
import { toEventSubject } from './subjects.ts';

export type EventMessage = {
  subject: string;
  /** The stream drops a message whose id it has seen lately. */
  msgID: string;
  /** A JSON array of events with consecutive `seq`. */
  text: string;
};

/** NATS refuses more than 1 MiB in one message; an event alone stays far below that. */
const messageLimitChars = 256 * 1024;

/** @param events of one session, in order */
export function toEventMessages(events: readonly SessionEvent[]): EventMessage[] {
  const messages: EventMessage[] = [];
  let part: { events: SessionEvent[]; texts: string[]; chars: number } | undefined;
  const flush = () => {
    const [first] = part?.events ?? [];
    const last = part?.events.at(-1);
    if (!part || !first || !last) return;
    const msgID = `${first.sessionId}:${first.seq}-${last.seq}`;
    messages.push({ subject: toEventSubject(first.sessionId), msgID, text: `[${part.texts.join(',')}]` });
    part = undefined;
  };
  for (const event of events) {
    const text = JSON.stringify(event);
    const isNeighbour = part?.events.at(-1)?.seq === event.seq - 1;
    if (part && (!isNeighbour || part.chars + text.length > messageLimitChars)) flush();
    part ??= { events: [], texts: [], chars: 0 };
    part.events.push(event);
    part.texts.push(text);
    part.chars += text.length;
  }
  flush();
  return messages;
}
