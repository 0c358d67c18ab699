// tool-names.ts: what the model calls the tools of MCP servers: `mcp__<server>__<tool>`.
// N1  A name is at most 128 bytes of A-Z a-z 0-9 _.
// N2  No two tools have one name; what would collide, or be too long, gets `_` and 12 hex digits of the SHA-1 of its raw names.
// N3  A name depends on the configured servers and on the tools of its own server, never on what other servers offer or on the order in
//     which they answer: gateways that are configured alike agree, and a session's frozen tools stay callable.
import { createHash } from 'node:crypto';

const limitBytes = 128;
const hashDigits = 12;

/** @returns the name of every raw tool name of one server, in the given order */
export function toToolNames(options: {
  server: string;
  /** All configured servers. */
  servers: readonly string[];
  tools: readonly string[];
}): Map<string, string> {
  const tools = [...new Set(options.tools)];
  const ambiguous = isAmbiguous(options.server, options.servers);
  const names = new Map<string, string>();
  for (const tool of tools) {
    const plain = toPlainName(options.server, tool);
    names.set(tool, ambiguous || plain.length > limitBytes ? toHashedName(options.server, tool) : plain);
  }
  for (let clash = findClash(names); clash; clash = findClash(names)) {
    const hashed = clash.filter((tool) => names.get(tool) === toHashedName(options.server, tool));
    // Two equal hashes: only somebody who wants them makes them. The first tool keeps the name, the others are not offered.
    if (hashed.length > 1) for (const tool of hashed.slice(1)) names.delete(tool);
    else for (const tool of clash) names.set(tool, toHashedName(options.server, tool));
  }
  return names;
}

/** What the names of a server's tools start with, whatever follows. */
export function toNamePrefix(server: string): string {
  return `mcp__${toSafe(server)}__`;
}

/** `a` and `a__b` could both have a tool `mcp__a__b__c`, and `a-b` is written like `a_b`. */
function isAmbiguous(server: string, servers: readonly string[]): boolean {
  const prefix = toNamePrefix(server);
  return servers.some((other) => {
    if (other === server) return false;
    const otherPrefix = toNamePrefix(other);
    return prefix.startsWith(otherPrefix) || otherPrefix.startsWith(prefix);
  });
}

/** The first tools found that share a name. */
function findClash(names: ReadonlyMap<string, string>): string[] | undefined {
  const owners = new Map<string, string[]>();
  for (const [tool, name] of names) owners.set(name, [...(owners.get(name) ?? []), tool]);
  return [...owners.values()].find((tools) => tools.length > 1);
}

function toPlainName(server: string, tool: string): string {
  return toNamePrefix(server) + toSafe(tool);
}

function toHashedName(server: string, tool: string): string {
  const hash = createHash('sha1').update(`${server}\0${tool}`).digest('hex').slice(0, hashDigits);
  return `${toPlainName(server, tool).slice(0, limitBytes - hashDigits - 1)}_${hash}`;
}

function toSafe(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_]/g, '_');
}
