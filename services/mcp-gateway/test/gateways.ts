// What the tests start: gateways over real MCP servers, ended with the test.
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { openGateway, toServerConfigs, type Gateway } from '@holdfast/mcp-gateway';
import type { Catalog } from '@holdfast/protocol';
import type { Logger } from '@holdfast/telemetry';
import { onTestFinished } from 'vitest';
import type { ProgressNote, ToolOutcome } from '../src/tool-caller.ts';

export const everythingServer = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
);
export const testServer = fileURLToPath(new URL('servers/stdio.ts', import.meta.url));

export const silent: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
function ignore(): void {
  // The tests look at what is recorded, not at the log.
}

export type WatchedGateway = Gateway & {
  /** Resolves with the first catalog that fulfils the condition; the one of now counts. */
  waitFor(condition: (catalog: Catalog) => boolean): Promise<Catalog>;
};

/** Opens a gateway over a configuration and waits until its servers are connected or have failed. */
export async function startGateway(mcpServers: Record<string, unknown>): Promise<WatchedGateway> {
  const text = JSON.stringify({ mcpServers });
  const servers = toServerConfigs({ text, source: 'test', folder: '/', env: process.env });
  const watchers = new Set<(catalog: Catalog) => void>();
  const onCatalogChange = (catalog: Catalog) => {
    for (const watcher of watchers) watcher(catalog);
  };
  const gateway = openGateway({ servers, env: process.env, logger: silent, onCatalogChange });
  onTestFinished(() => gateway.close());
  await gateway.settled();
  const waitFor = (condition: (catalog: Catalog) => boolean) => {
    const { promise, resolve } = Promise.withResolvers<Catalog>();
    const watcher = (catalog: Catalog) => condition(catalog) && resolve(catalog);
    watchers.add(watcher);
    watcher(gateway.catalog());
    return promise;
  };
  return { ...gateway, waitFor };
}

export function toStdioServer(
  program: string,
  options: Record<string, unknown> = {},
): Record<string, unknown> {
  return { command: process.execPath, args: [program], ...options };
}

export type CallReport = { outcome: ToolOutcome; notes: ProgressNote[] };

export async function callTool(
  gateway: Gateway,
  tool: string,
  options: {
    arguments?: Record<string, unknown>;
    signal?: AbortSignal;
    onProgress?: (note: ProgressNote) => void;
  } = {},
): Promise<CallReport> {
  const found = gateway.find(tool);
  if (found.kind !== 'tool') throw new Error(`${tool} is ${found.kind}`);
  const notes: ProgressNote[] = [];
  const outcome = await found.call({
    arguments: options.arguments ?? {},
    signal: options.signal ?? new AbortController().signal,
    onProgress: (note) => {
      notes.push(note);
      options.onProgress?.(note);
    },
  });
  return { outcome, notes };
}

export function toAnswer(text: string): ToolOutcome {
  return { kind: 'answered', answer: { content: [{ type: 'text', text }], failed: false } };
}

/** A port that was free a moment ago. */
export async function findPort(): Promise<number> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const address = server.address();
  const closed = Promise.withResolvers<void>();
  server.close(() => closed.resolve());
  await closed.promise;
  return typeof address === 'object' && address ? address.port : 0;
}
