import type { Logger } from '@holdfast/telemetry';
// connection.ts: one open conversation with one MCP server, from handshake to end.
// C1  Progress of a call is delivered in the order of arrival and all of it before the call's outcome, also when both come in one chunk.
// C2  `lost` resolves once, when the conversation is over or known to be useless; the owner closes and opens another one.
import {
  Client,
  type CallToolResult,
  type Tool,
  type Transport,
  type VersionNegotiationOptions,
} from '@modelcontextprotocol/client';
import type { ProtocolChoice, ServerConfig } from './server-config.ts';
import type { ToolOutcome, ToolRequest } from './tool-caller.ts';
import { createTransport } from './transports.ts';
import { NotConnected, toTrouble } from './trouble.ts';

export type Connection = {
  /** What the handshake found out; opening the next connection with it saves the probe. */
  protocol: ProtocolChoice;
  /** At most 2,048 tools over at most 100 pages. @throws the SDK's errors */
  listTools(): Promise<Tool[]>;
  /** @throws `request.signal.reason` after an abort, nothing else */
  call(tool: Tool, request: ToolRequest): Promise<ToolOutcome>;
  /** Asks whether the server is still there; when not, `lost` resolves. */
  check(): Promise<boolean>;
  /** Why the conversation ended, as a clause. */
  lost: Promise<string>;
  /** Idempotent. */
  close(): Promise<void>;
};

export type ConnectionOptions = {
  server: ServerConfig;
  protocol: ProtocolChoice;
  /** Only PATH, HOME and the like reach local servers, and what the configuration gives them. */
  env: Readonly<Record<string, string | undefined>>;
  logger: Logger;
  signal: AbortSignal;
  onToolsChanged: () => void;
};

const toolLimit = 2_048;
const pageLimit = 100;
const listChangedDebounceMs = 100;
/** A server over HTTP may vanish without a sign; it is asked at this pace. */
const checkIntervalMs = 30_000;
const checkTimeoutMs = 10_000;

type RunningCall = { onProgress: ToolRequest['onProgress']; asked?: string };

/** @throws what the transport or the SDK throws when the handshake fails; nothing is left running then */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { server } = options;
  const { promise: lost, resolve: lose } = Promise.withResolvers<string>();
  const calls = new Map<string, RunningCall>();
  const client = createClient(options, calls);
  const { transport, endReason } = await createTransport(options);
  Object.assign(client, { onclose: () => lose(endReason() ?? 'the connection was closed') });
  try {
    await client.connect(transport, { timeout: server.startupTimeoutMs, signal: options.signal });
  } catch (error) {
    const reason = endReason();
    await transport.close().catch(() => undefined);
    throw reason === undefined ? error : new NotConnected(reason, { cause: error });
  }
  void client.autoOpenedSubscription?.closed.then(
    (cause) => cause !== 'local' && lose('it ended its event stream'),
  );
  const check = createCheck(client, lose);
  const timer =
    server.transport.kind === 'http' ? setInterval(() => void check(), checkIntervalMs).unref() : undefined;
  return {
    protocol: client.getProtocolEra() === 'modern' ? toPin(client) : 'legacy',
    listTools: () => listTools(client, server),
    call: createCall({ client, calls, server, endReason }),
    check,
    lost,
    close: () => closeClient({ client, transport, timer }),
  };
}

function createClient(options: ConnectionOptions, calls: ReadonlyMap<string, RunningCall>): Client {
  const client = new Client(
    { name: 'holdfast', version: '0.1.0' },
    {
      versionNegotiation: toNegotiation(options.protocol),
      inputRequired: { autoFulfill: false },
      listChanged: {
        tools: {
          autoRefresh: false,
          debounceMs: listChangedDebounceMs,
          onChanged: () => options.onToolsChanged(),
        },
      },
    },
  );
  // The SDK forgets a call's progress handler before a last note that came together with the result is dispatched (C1).
  client.setNotificationHandler('notifications/progress', ({ params }) => {
    const { progress, total, message } = params;
    calls.get(String(params.progressToken))?.onProgress({
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    });
  });
  client.fallbackRequestHandler = (request) => {
    for (const call of calls.values()) call.asked = request.method;
    return Promise.reject(new Error(`${request.method} is not available here`));
  };
  return client;
}

type CallParts = {
  client: Client;
  calls: Map<string, RunningCall>;
  server: ServerConfig;
  /** How the process of the server ended. */
  endReason: () => string | undefined;
};

function createCall(parts: CallParts): Connection['call'] {
  const { client, calls, server } = parts;
  let count = 0;
  return async (tool, request) => {
    count += 1;
    const token = `call-${count}`;
    const running: RunningCall = { onProgress: request.onProgress };
    calls.set(token, running);
    try {
      const result = await client.callTool(
        { name: tool.name, arguments: request.arguments, _meta: { progressToken: token } },
        // Without an output schema, the SDK does not throw away the answer of a tool that does not keep to its own.
        {
          signal: request.signal,
          timeout: server.toolTimeoutMs,
          toolDefinition: { ...tool, outputSchema: undefined },
        },
      );
      return toOutcome(result, running);
    } catch (error) {
      request.signal.throwIfAborted();
      return toFailedOutcome(error, running, parts);
    } finally {
      calls.delete(token);
    }
  };
}

function toOutcome(result: CallToolResult, running: RunningCall): ToolOutcome {
  if (result.isError && running.asked !== undefined) return { kind: 'needs-client', request: running.asked };
  const { content, structuredContent, isError } = result;
  return {
    kind: 'answered',
    answer: {
      content,
      failed: isError === true,
      ...(structuredContent === undefined ? {} : { structuredContent }),
    },
  };
}

function toFailedOutcome(error: unknown, running: RunningCall, parts: CallParts): ToolOutcome {
  const trouble = toTrouble(error);
  switch (trouble.kind) {
    case 'needs-client':
      return { kind: 'needs-client', request: trouble.reason };
    case 'refused':
      if (running.asked !== undefined) return { kind: 'needs-client', request: running.asked };
      return { kind: 'refused', reason: trouble.reason };
    case 'undelivered':
      return { kind: 'away', reason: trouble.reason };
    case 'lost':
      return { kind: 'lost', reason: parts.endReason() ?? trouble.reason };
    case 'timed-out':
      return { kind: 'timed-out', limitMs: parts.server.toolTimeoutMs };
  }
}

async function listTools(client: Client, server: ServerConfig): Promise<Tool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const tools: Tool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pageLimit && tools.length < toolLimit; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const result = await client.request(
      { method: 'tools/list', params },
      { timeout: server.startupTimeoutMs },
    );
    tools.push(...result.tools);
    if (result.nextCursor === undefined || result.nextCursor === cursor) break;
    cursor = result.nextCursor;
  }
  return tools.slice(0, toolLimit);
}

function createCheck(client: Client, lose: (reason: string) => void): () => Promise<boolean> {
  return async () => {
    const options = { timeout: checkTimeoutMs };
    try {
      await (client.getProtocolEra() === 'modern' ? client.discover(options) : client.ping(options));
      return true;
    } catch (error) {
      lose(toTrouble(error).reason);
      return false;
    }
  };
}

async function closeClient(parts: {
  client: Client;
  transport: Transport;
  timer: NodeJS.Timeout | undefined;
}): Promise<void> {
  clearInterval(parts.timer);
  await parts.client.close().catch(() => undefined);
  await parts.transport.close().catch(() => undefined);
}

function toNegotiation(protocol: ProtocolChoice): VersionNegotiationOptions {
  return { mode: protocol === 'legacy' || protocol === 'auto' ? protocol : { pin: protocol } };
}

/** The one modern revision there is; a server of another one is probed again each time. */
function toPin(client: Client): ProtocolChoice {
  return client.getNegotiatedProtocolVersion() === '2026-07-28' ? '2026-07-28' : 'auto';
}
