// sse-parser.ts: server-sent events from text that arrives in pieces. Lines end with LF or CRLF; comments and unknown fields are skipped.

export type SseMessage = { event: string; data: string };

/** @returns a function that takes the next piece and hands every message that it completes to `receive` */
export function createSseParser(receive: (message: SseMessage) => void): (piece: string) => void {
  let rest = '';
  let event = '';
  let data: string[] = [];
  const takeLine = (line: string) => {
    if (line === '') {
      if (data.length > 0) receive({ event: event === '' ? 'message' : event, data: data.join('\n') });
      event = '';
      data = [];
      return;
    }
    const { field, value } = toField(line);
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
  };
  return (piece) => {
    const newline = piece.indexOf('\n');
    if (newline === -1) {
      rest += piece;
      return;
    }
    const text = rest + piece;
    let start = 0;
    for (let end = rest.length + newline; end !== -1; end = text.indexOf('\n', start)) {
      takeLine(text.slice(start, text[end - 1] === '\r' ? end - 1 : end));
      start = end + 1;
    }
    rest = text.slice(start);
  };
}

function toField(line: string): { field: string; value: string } {
  const colon = line.indexOf(':');
  if (colon === -1) return { field: line, value: '' };
  const start = line[colon + 1] === ' ' ? colon + 2 : colon + 1;
  return { field: line.slice(0, colon), value: line.slice(start) };
}
