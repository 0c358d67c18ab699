// client.ts: a small Responses client for the tests, on real fetch.
import type { ModelServer } from '../src/index.ts';

export type ServerEvent = { type: string; [field: string]: unknown };
export type Item = { [field: string]: unknown };

export function toUser(content: string): Item {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text: content }] };
}

export function toOutput(callId: string, output = 'ok'): Item {
  return { type: 'function_call_output', call_id: callId, output };
}

export function post(
  url: string,
  input: unknown,
  more: { body?: Item; headers?: Record<string, string>; signal?: AbortSignal } = {},
) {
  return fetch(`${url}/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...more.headers },
    body: JSON.stringify({ model: 'scripted', stream: true, input, ...more.body }),
    ...(more.signal ? { signal: more.signal } : {}),
  });
}

/** Yields the events as they arrive; throws when the connection breaks. */
export async function* readEvents(response: Response): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  for await (const bytes of response.body ?? []) {
    const blocks = (rest + decoder.decode(bytes, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, type = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
      const event = JSON.parse(data) as ServerEvent;
      if (event.type !== type) throw new Error(`event name ${type} differs from its data ${event.type}`);
      yield event;
    }
  }
}

/** All events of one successful request. */
export async function ask(
  url: string,
  input: unknown,
  more: Parameters<typeof post>[2] = {},
): Promise<ServerEvent[]> {
  const response = await post(url, input, more);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  const events: ServerEvent[] = [];
  for await (const event of readEvents(response)) events.push(event);
  return events;
}

/** The output items of a completed response. */
export function toItems(events: readonly ServerEvent[]): Item[] {
  return events
    .filter((event) => event.type === 'response.output_item.done')
    .map((event) => event['item'] as Item);
}

export function toTexts(events: readonly ServerEvent[]): string[] {
  return events
    .filter((event) => event.type === 'response.output_text.done')
    .map((event) => String(event['text']));
}

/** Events until the connection ends, and whether it ended by breaking. */
export async function readUntilEnd(response: Response): Promise<{ types: string[]; isBroken: boolean }> {
  const types: string[] = [];
  try {
    for await (const event of readEvents(response)) types.push(event.type);
    return { types, isBroken: false };
  } catch {
    return { types, isBroken: true };
  }
}

export async function readError(response: Response): Promise<{ status: number; error: unknown }> {
  const body = (await response.json()) as { error: unknown };
  return { status: response.status, error: body.error };
}

/** Makes a server live as long as a `using` block. */
export function owned(server: ModelServer): ModelServer & AsyncDisposable {
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.close() });
}

/** What a promise rejects with; handled from the start, so that it may be awaited late. */
export function toRejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`resolved with ${JSON.stringify(value)}`);
    },
    (reason: unknown) => reason,
  );
}
