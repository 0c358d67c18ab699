// gateway.ts: all configured MCP servers as one: their catalog, and who has a tool.
import type { Catalog, ToolSpec } from '@holdfast/protocol';
import { toCatalog } from '@holdfast/store-client';
import type { Logger } from '@holdfast/telemetry';
import { HeldServer } from './held-server.ts';
import type { ServerConfig } from './server-config.ts';
import type { FoundTool, ToolCaller } from './tool-caller.ts';
import { toNamePrefix, toToolNames } from './tool-names.ts';
import { toToolSpec } from './tool-spec.ts';

export type Gateway = ToolCaller & {
  /** The tools known now; also those of servers that are away for the moment. */
  catalog(): Catalog;
  /** Resolves when every server was connected or failed for the first time; at once without servers. */
  settled(): Promise<void>;
  /** Ends all connections and processes. Idempotent. */
  close(): Promise<void>;
};

export type GatewayOptions = {
  servers: readonly ServerConfig[];
  /** The environment of this process; local servers see a small part of it. */
  env: Readonly<Record<string, string | undefined>>;
  logger: Logger;
  /** Called after the digest of the catalog has changed. */
  onCatalogChange?: (catalog: Catalog) => void;
};

/** Starts connecting to all servers and returns at once. */
export function openGateway(options: GatewayOptions): Gateway {
  let offers: ReadonlyMap<string, FoundTool> = new Map();
  let catalog = toCatalog([]);
  const refresh = () => {
    const listed = listOffers(servers);
    const next = toCatalog(listed.specs);
    offers = listed.offers;
    if (next.digest === catalog.digest) return;
    catalog = next;
    options.onCatalogChange?.(catalog);
  };
  const { env, logger } = options;
  const servers = options.servers.map(
    (server) => new HeldServer({ server, env, logger, onToolsChanged: refresh }),
  );
  return {
    catalog: () => catalog,
    settled: async () => {
      await Promise.all(servers.map((server) => server.settled()));
    },
    find: (name) => offers.get(name) ?? findAbsent(servers, name),
    close: async () => {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

function listOffers(servers: readonly HeldServer[]) {
  const offers = new Map<string, FoundTool>();
  const specs: ToolSpec[] = [];
  for (const server of servers) {
    const { name, supportsParallelToolCalls: supportsParallel } = server.config;
    const tools = new Map(server.tools().map((tool) => [tool.name, tool]));
    const names = toToolNames({
      server: name,
      servers: servers.map((other) => other.config.name),
      tools: [...tools.keys()],
    });
    for (const [rawName, tool] of tools) {
      const toolName = names.get(rawName);
      if (toolName === undefined || offers.has(toolName)) continue;
      const spec = toToolSpec(tool, { name: toolName, supportsParallel });
      offers.set(toolName, {
        kind: 'tool',
        spec,
        server: name,
        call: (request) => server.call(tool, request),
      });
      specs.push(spec);
    }
  }
  return { offers, specs };
}

/** A server that never came up may have the tool: a session's tools outlive the gateway that listed them. */
function findAbsent(servers: readonly HeldServer[], name: string): FoundTool {
  for (const server of servers) {
    const reason = server.trouble();
    if (reason !== undefined && name.startsWith(toNamePrefix(server.config.name)))
      return { kind: 'server-away', server: server.config.name, reason };
  }
  return { kind: 'unknown' };
}
